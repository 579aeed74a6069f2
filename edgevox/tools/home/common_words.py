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
    a about above activate add adjust after again ago ahead alarm all almost already alright also always
    am and announce another any anybody anyone anything anyway appreciate are around as ask asleep at
    away baby bad be because been before begin behind believe below best better between big bit bolt
    both break bright brighten brighter brightness bring busy but buy by call called came can cancel
    cant carry change charge check clean clear close closed cold colder come coming complete continue
    cool cooler copy could count cover crank create current currently cut dark darker date day
    deactivate decrease degree delete did dim dimmer disable do does doing done dont down draw drop dry
    each early easy eat eight eleven else empty enable end enough even evening ever every everybody
    everyone everything everywhere excuse extend fall fast feed feel fell fifteen fifty fill find fine
    finish finished first five fix flat fly follow for forget forgot forty found four free friday from
    full gave get getting give given go goe going gone good got great grow guess had half halt hang
    happy has hate have having he head hear heard heat hello help her here hey high higher him his hold
    home hot hour how hundred hurry i if immediately in increase into is it item job just keep kill kind
    kindly know large last late later learn least leave less let level lie lift like list listen little
    live lock long longer look lost lot loud louder love low lower lunch made make making many mark
    maximum may maybe me mean meant media meet meeting middle might mind mine minus minute miss mode
    moment monday month more morning most move much music must mute my name near nearly need never new
    next nice night nine no nobody noise none noon nope nor not nothing now nudge number of off often
    okay old on once one only open opened or order other our out over own pack part pass past pause pay
    people percent pick place play playing please plus possible power press previous put quarter quick
    quickly quiet quieter quite raining raise rather reach read ready really record reduce release
    remember remind reminder remove repeat reset rest resume return rid roll run safe same saturday save
    saw say saying search second see seen sell send sent set seven several shall she short should show
    shuffle shut sing sit six sixty skip sleep slow slower small so soft some somebody someone something
    somewhere song soon sorry sound space speak speed spot stand start state status stay still stop
    story stuck such sunday sure switched take taken taking talk talking tell temperature ten than thank
    that the their them then there these they thing think thirty this those three through throw thursday
    tick tidy till time timer tired to today together tomorrow tonight too track try trying tuesday turn
    turned twelve twenty twice two unless unlock unlocked unmute unpause until us use usual value very
    volume wait waiting wake walk want warm warmer was watch water way we weather wednesday week well
    went were wet what when where whether which while who whole why wide will wind with within without
    woke won wonder wont word work would write wrong yeah year yes yesterday yet you young your yourself
    """
)
"""Of commands and questions, with those that hold sentences together, in the singular."""

EVERYDAY = word_set(
    """
    air airport apple area bag ball bank bar bathtub battery bean beer bell bench bike bin birthday
    biscuit blanket blood board boat boiler book boss bottle bottom bow bowl box boy bread breakfast
    bridge broadcast brother building burglar bus butter cabin cable cake camera candle car card carpet
    carport cat cell chair channel charger cheese chicken child children christma cinema city class
    cleaner cleaning clock club coat code coffee color colour computer concert console cooker cooking corner
    corridor cost country course cream cup customer dad damper daughter dehumidifier delivery dentist
    detector device diary dinner disc dish doctor dog dragon drawer dream drink driver dryer dye eating
    egg electrician electricity email energy entrance exam eye face family father favour fence fever
    field film filter finger fish flight flood flower food foot football forest freezer friend frost
    fruit fryer game gas girl glass golden grandma grandpa granny grass grocery ground group guitar gym
    hair hamster hand hat headache heading heart hobby holiday homework hood hotel humidifier humidity
    husband ice idea iron island key kid king kitchenette ladder lady land landlord lane laptop law
    leather led lemon lesson letter life line locked machine main man map market match meal meat medicine
    mess message milk mirror money moon mother mouse mouth movie mud museum mushroom neighbour news
    noisy nurse office oil page paint paper parcel parent park parrot party passport pepper person pet
    phone photo picture piece pill pipe pizza plan plane plant plate player plumber point police postman
    present pressure price problem program pull puppy push question rabbit rain range reading receiver
    recipe recording report ride ring river road roller rope routine rubbish rule running salt school
    sea seat setting shape shirt shoe shop shopping sign siren sister sitting sleeping smoke snow soap
    solar son sono soup spider spring stage star steady step stick stone stove street string studio
    sugar suitable suite summer sun swimming system tank tap task taxi tea teacher team test ticket
    toast toaster todo tomato top towel town toy train trip truck tv umbrella uncle van vent video violin
    visitor voice wedding weekend wheel wife wine wing winter woman wood writing zone
    """
)
"""Things, people and doings of every day that may stand beside a light or a door."""
