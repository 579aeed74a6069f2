"""Words that are so common in speech that a recogniser which writes one of them has heard it."""

from __future__ import annotations

from edgevox.tools.home.names import word_set

COLOURS = word_set(
    """
    amber beige black blue brown cyan gold gray green grey indigo ivory lime magenta orange pink purple
    red rose silver teal turquoise violet white yellow
    """
)
"""Said of lights."""

SPOKEN = word_set(
    """
    a about above activate add after again ago ahead alarm all almost already also always am and
    announce another any anyone anything are around as ask at away baby bad be because been before begin
    behind below best better between big bit bolt both bright brighter brightness bring but buy by call
    can cancel change check clean clear close closed cold colder come cool cooler could cover current
    cut dark darker date day deactivate decrease degree did dim dimmer disable do does done down dry
    each early easy eat eight eleven else empty enable end enough even evening ever every everyone
    everything fast fifteen fifty find fine first five flat for forget forty four free friday from full
    get give go going good got great had half has have he head hear heat hello help her here hey high
    higher him his hold home hot hour how hundred i if in increase into is it item job just keep kind
    know large last late later least leave less let level like list listen little lock long longer look
    loud louder love low lower lunch make many may maybe me mean media middle might mine minute mode
    monday month more morning most move much music mute my name near need never new next nice night nine
    no noise none noon nor not nothing now number of off often okay old on one only open or order other
    our out over own part past pause people percent play please power press previous put quarter quick
    quiet quieter quite raise rather read ready really record remind reminder remove repeat reset rest
    resume run same saturday say second see seen send set seven several shall she short should show
    shuffle shut sing six sixty skip sleep slow slower small so soft some someone something song soon
    sorry sound space speed stand start state status stay still stop story such sunday sure take tell
    temperature ten than thank that the their them then there these they thing think thirty this those
    three thursday tidy till time timer tired to today together tomorrow tonight too track try tuesday
    turn twelve twenty twice two unless unlock unmute until us use usual very volume wait wake want warm
    warmer was watch water way we weather wednesday week well were wet what when where whether which
    while who whole why wide will wind with within without won wonder word work would wrong year yes yet
    you young your
    """
)
"""Of commands and questions, with those that hold sentences together, in the singular."""

EVERYDAY = word_set(
    """
    bag bar bike book bottle bow box boy bus camera car card cat chair child children city clock coat
    code colour cooking corner country course cup dinner disc dish dog drawer drink eating entrance
    family father film fish flower food foot friend fruit game gas girl glass golden ground group guitar
    hair hand hat heading heart holiday idea kid king lady land leather line locked machine main man map
    meal meat milk mirror money mother mouth movie news noisy office page paint paper parent park party
    phone picture piece plan plane plant plate player point problem program pull push question rain
    reading recording report ride ring river road routine rule running school sea seat setting shape
    shirt shoe shop shopping sign sitting sleeping stage star steady step stick stone string studio
    suitable sun swimming system tank tea teacher team test top town toy train truck tv wheel wine wing
    winter woman wood writing
    """
)
"""Things, people and doings of every day that may stand beside a light or a door."""
