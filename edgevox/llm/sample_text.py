"""A text of our own, about a thousand tokens of ordinary English, on which copies of a model are compared."""

from __future__ import annotations

SAMPLE_TEXT = """\
The ferry to the island leaves twice a day, at eight in the morning and at half past four in the afternoon. \
In winter it does not run at all when the wind is stronger than the captain likes, and nobody on the \
mainland can say in advance how strong that is. Anna had missed the morning boat by two minutes. She stood \
on the pier with a bag in each hand and watched the white line behind the ship grow longer, and then she \
did what people in that town have always done: she went to the bakery and ordered a large coffee.

The baker knew her. He asked about her brother, who had moved to the city to study medicine, and about the \
roof of her mother's house, which had been damaged by the storm in October. She told him that the roof was \
nearly finished and that her brother had passed his first examinations, although he complained about the \
food, the noise and the price of a small room with a view of a car park. The baker laughed. He said that \
his own son had complained about the same things ten years ago, and that he now refused to live anywhere \
else.

It began to rain. The people who had been sitting outside came in and brought the smell of wet wool with \
them. Two children put their noses against the glass and counted the boats in the harbour, and they could \
not agree whether the old rowing boat without oars should be counted too. Their father, who was reading the \
newspaper, said that a boat is a boat as long as it floats. This did not settle the question, because from \
the window it was not easy to see whether it did.

Anna took out her notebook and wrote a list of the things that had to be done before the end of the month. \
The garden wall needed new stones on the north side. The pump in the cellar made a sound like an old man \
clearing his throat, and somebody had to look at it before the spring rain. The school had asked her to \
teach on Thursdays as well, and she had not answered yet. She liked the children, and the money would help, \
but Thursday was the day on which she walked to the lighthouse and back, and she was not sure that she \
wanted to give it up. She drew a small lighthouse next to that line and put a question mark behind it.

At noon the radio gave the weather report. There would be showers in the afternoon, with a moderate breeze \
from the south west, and the temperature would not rise above nine degrees. Tomorrow would be dry and a \
little warmer. The baker turned the volume down again and said that the man on the radio had been wrong \
three times that week, so there was reason to hope. Then he cut a loaf into slices, wrapped half of it in \
paper and put it on her table. She tried to pay for it, but he shook his head and told her that it was \
yesterday's bread, which was not true.

When a machine weighs a letter, it measures how strongly the earth pulls at the paper. A simple balance \
does not care where it stands, because the weights on the other side are pulled in the same way, but a \
spring balance shows a little less on a high mountain than at the sea. The difference is far too small to \
matter at a post office. It matters a great deal to people who look for water, ore or oil under the ground, \
since heavy rock pulls more than light rock does. They carry instruments that can notice a change of one \
part in a hundred million, and with enough patience they can draw a map of things that nobody has ever \
seen.

To make a good soup you do not need much. Cut two onions, three carrots and a piece of celery into small \
cubes, and let them turn soft in a little butter over a low flame. Add a litre of water, salt, some pepper \
and two potatoes, and wait for twenty minutes. If there is bread left from the day before, fry it with \
garlic and put it on top just before you serve. Most people take the pot off the fire too early; the \
potatoes should fall apart when you touch them with a spoon. A few drops of lemon juice at the end make all \
the difference.

At four o'clock the sky cleared. The ferry came around the breakwater with all its lights on, although it \
was not dark yet, and the same captain who had left without her in the morning waved from the bridge as if \
nothing had happened. Anna finished her second cup of coffee, put the bread into her bag and thanked the \
baker once more. On the pier she met the woman who ran the small library on the island. They talked about \
the book that both of them had wanted to read for years, and that neither had opened, and they agreed to \
begin on the same evening and to tell each other on Sunday how far they had come.
"""
