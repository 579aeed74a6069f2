// What is said to the assistant, and by it, in each of the page's languages: the assistant's may be another than the browser's.

export const SPOKEN = {
  en: {
    example1: "Turn on the kitchen light",
    example2: "Is the front door locked?",
    example3: "Set a timer for five minutes",
    example4: "What is the weather like?",
    "check.sample": "Hello, this is how I sound.",
  },
  de: {
    example1: "Schalte das Küchenlicht ein",
    example2: "Ist die Haustür abgeschlossen?",
    example3: "Stell einen Timer auf fünf Minuten",
    example4: "Wie ist das Wetter?",
    "check.sample": "Hallo, so klinge ich.",
  },
};
