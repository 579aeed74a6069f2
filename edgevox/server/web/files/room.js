// Live events of the assistant's own microphone, in the same frames.

export class Room {
  // `take(frame)` gets each frame.
  constructor(server, take) {
    this.server = server;
    this.take = take;
    this.reading = null;
  }

  // Until `rest`, or until the connection ends. Without the scope `history` there are none.
  async listen() {
    this.rest();
    this.reading = new AbortController();
    try {
      let rest = "";
      for await (const text of texts(await this.server.stream("/v1/events", this.reading.signal))) {
        const lines = (rest + text).split("\n");
        rest = lines.pop();
        for (const line of lines) if (line.startsWith("data: ")) this.take(JSON.parse(line.slice(6)));
      }
    } catch {
      // Ends and restarts together with the socket.
    }
  }

  rest() {
    this.reading?.abort();
    this.reading = null;
  }
}

async function* texts(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    yield value;
  }
}
