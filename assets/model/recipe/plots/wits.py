"""Riddles, tricks, wagers and questions."""
from plots import pair

pair('human', {'V': ['troll', 'giant', 'wizard', 'dragon'], 'F': 'animal'}, 'clever',
 ['{V^} had never lost a riddle match. "Three questions," said {V}. "If you lose, you must [wash my socks|comb my beard] for a year."', 'Whoever wanted to cross the mountain had to play with {V}, who sat in the pass and was bored.'],
 ['{H} sat down on a stone. "You begin," {H he} said.', '"I will play," said {H}, "but {F} may help me." "{F^}?" cried {V}. "Gladly!"'],
 ['"{riddleq}" asked {V}. {H} looked at {H his} fingers, and then {H he} looked at the sky. "{riddlea^}," {H he} said.', '"{riddleq}" asked {V}. {F^} whispered something. "It is {riddlea}," said {H}.'],
 ['"Hm," said {V}. "That was the easy one. {riddleq2}" It took {H} a little longer. "{riddlea2^}," {H he} said at last.', '{V^} pulled {V his} beard. "{riddleq2}" That was harder. Then {F} gave a sneeze, and {H} laughed. "Of course!" {H he} cried. "It is {riddlea2}."'],
 ['"Now it is my turn," said {H}. "What is in my left pocket?" {V^} guessed a stone. {V^} guessed a mouse. {V^} guessed a letter from {H his} aunt.', '"And now I ask you one," said {H}. "What have I just been thinking?" {V^} opened {V his} mouth and closed it again.'],
 ['"A hole," said {H}. {V^} laughed so much that the stones began to roll. "That one I shall keep," {V he} said, and let {H him} pass.', '"That you are nicer than they say," said {H}. {V^} turned red up to the ears and carried them both over the mountain.'])

pair('human', {'O': ['farmer', 'miller', 'mayor', 'king']}, 'clever',
 ['"I will hire you for a year," said {O} to {H}, "and at the end you will get what you can carry." {O^} was known to be mean.', '"What do you want for your work?" asked {O}. "Only one grain of corn on the first day," said {H}, "and each day twice as many as the day before." {O^} laughed and shook {H his} hand.'],
 ['{H} worked hard from spring to winter. {H He} mowed, and chopped, and never broke a plate.', 'On the first day {H} got one grain, and on the second day two, and on the third day four. On the tenth day it was a small handful.'],
 ['When the year was over, {O} brought {H him} to the barn, and there stood a stone as big as a cow. "That is your pay," said {O}, "if you can carry it."', '"What will you do with it?" asked {O}. "I will keep counting," said {H}.'],
 ['{H} walked around it. {H He} tapped on it here and there. "I can carry it," {H he} said. "But not all of it at once. You did not say how often I may go."', 'On the twentieth day it was a sack, and on the twenty-fifth day it was a cart. {O^} had stopped laughing.'],
 ['Then {H} took a hammer and went to work. On the third evening the stone split, and it glittered inside like a frosty night.', 'On the thirtieth day all the barns were empty. "How can that be?" cried {O}. "It was only one grain!"'],
 ['It was full of crystals. {H} carried it home in four hundred trips, and {O} had to hold the door open each time.', '"One, and twice, and twice again," said {H}. "I will leave you half, if you pay the others fairly from now on." And so it was done.'])

pair('human', {'G': ['grandmother', 'uncle', 'old man'], 'F': 'animal'}, 'wonder',
 ['{H} asked questions from morning to night. "Why is the grass green? Why do cats have whiskers? Where does the candle go when it has burned down?"', '"Why?" was the first word that {H} ever said, and {H he} liked it so much that {H he} kept it.'],
 ['"Ask {G}," said {H his} father. "Ask {H his} father," said {G}.', '"Why must I sleep?" "Because it is night." "Why is it night?" "Because the sun is gone." "Why?" {G^} sighed and put {G his} spectacles on.'],
 ['So {H} took a bag and set out to find someone who knew. {H He} put all the questions into it, and it was rather heavy.', '{G^} took an apple and a lamp. "The lamp is the sun, and the apple is the earth," said {G}. "Where are we?" "Here, by the stem," said {H}.'],
 ['The owl knew one, and the miller knew one, and the man who made spectacles knew two. With every answer the bag grew lighter, and with every answer {H} found another question.', 'Then {G} turned the apple slowly, and the stem went into the dark. "Oh!" said {H}. "The sun does not go away at all. It is we who go."'],
 ['In the evening {H he} met {Fa}. "What do you do when there is no one left who knows?" asked {H}. "Then I look," said {F}.', '"And why does it turn?" asked {H}. {G^} thought for a long time. "That I do not know," {G he} said.'],
 ['{H} has looked ever since. {H He} has a glass for small things and a glass for far ones, and the bag has never been full again, nor ever quite empty.', '{H} was not disappointed at all. "Then there is something left for me," {H he} said, and ate the earth.'])

pair('animal', {'V': ['fox', 'wolf', 'weasel'], 'F': 'fly'}, 'clever',
 ['{V^} wanted to catch {H} and had tried it with a hole, with a net, and with a song.', '{H} had {food1} in {H his} mouth and sat high up on a branch. Down below stood {V}.'],
 ['{T} {V} lay down on the path and pretended to be dead, with all four feet in the air.', '"How well you look today," said {V}. "What a pity that nobody ever hears you sing."'],
 ['{H} came along and stopped ten steps away. "How sad," said {H}. "But everyone knows that when {Va} is really dead, {V his} tail wags."', '{H} knew that story. {H He} put one foot on the {food}, and then {H he} opened {H his} mouth and sang all seven verses.'],
 ['{V^} thought about it. Then the tail began to wag, very slowly.', 'It was not a good song, but it was long. {V^} had to stand there and listen, because {V he} had asked for it.'],
 ['"Good morning, {V}," said {H}, and was already behind the fence.', 'At the fifth verse the dogs came to see who was making that noise.'],
 ['{Fa^} that had watched from a bush laughed so hard that it fell out. And {V} has stayed away from tails ever since.', '"Thank you for asking!" {H} called after {V him}, and finished {H his} supper in peace.'])

pair('human', {'F': 'animal', 'K': 'king'}, 'truth',
 ['The king loved to be lied to, if the lie was good. "A plate of gold to anyone who tells me something that I cannot believe," he said.', 'The king had painted a picture. Everyone said that it was the most beautiful picture in the world.'],
 ['People told of horses with wings, and of fish that climbed trees. "I believe it," said the king each time, and ate a grape.', '"What can you see in it?" he asked everyone. "Your greatness," they said. "A sunset," they said. "Your late grandmother," they said.'],
 ['Then {H} came in with a pot. "I have come for the money," {H he} said. "Your father borrowed a potful of gold from mine."', '{T} {H}, who brought up the firewood, stopped in front of it with {H his} arms full.'],
 ['"That is a lie!" cried the king. "I do not believe a word of it!" "Then I get the plate," said {H}.', '"And what can you see in it?" asked the king. {H} put {H his} head on one side. "I think it is a hen," {H he} said. The whole court held its breath.'],
 ['The king saw that he was caught. "And if I do believe it?" he asked. "Then I get the potful," said {H}.', '"At last!" cried the king. "It is a hen! It was always a hen. I was beginning to think that I could not paint."'],
 ['He laughed until his crown slipped down to his nose, and paid with the plate, for that was cheaper.', 'He gave {H} the picture, and it hangs in the henhouse, where it is very much admired.'])

pair('human', {'F': 'human', 'O': ['farmer', 'miller', 'old man']}, 'clever',
 ['{H} and {F} had found a purse with seventeen coins in it, and they could not divide them.', '{O^} had left his three children seventeen goats. The first was to have half of them, the second a third, and the last a ninth. They counted and quarrelled for a week.'],
 ['"Eight for you and nine for me," said {F}. "Nine for me and eight for you," said {H}. It was evening, and they were still saying it.', '"We would have to cut one up," said the first. "Never," said the last, who knew them all by name.'],
 ['Then {Oa} came along who was looking at the ground. "Have you lost something?" asked {H}.', 'Then {H} came by with {H his} own old goat on a string. "Take mine as well," said {H}. "Then there are eighteen."'],
 ['"Seventeen coins," said {O}, "and I had saved them for a {obj}." {H} looked at {F}, and {F} looked at {H}. It was suddenly quite easy to divide them.', 'Now the first took nine, the second took six, and the last took two. They counted them over once more. That made seventeen.'],
 ['"Seventeen for you," they both said, and held out the purse.', '"And one is left over," said {H}. "That is mine." {H He} took {H his} goat by the string again.'],
 ['{O^} thought for a while and gave each of them one coin. "Now it is fifteen," said {H}. "I can divide that too," said {F}. But they did not have to.', '"How did you do that?" they called after {H him}. "I do not know," said {H}. "Sometimes one has to put something in before one can take something out."'])

pair(None, {'F': None, 'G': 'animal'}, 'listen',
 ['{T} a whisper went around. {F^} had said to {G} that the sky was [tired|loose], or something like that.', 'A plum fell on the roof of {H} in the night. Bump! In the morning {H} told {F} that something had fallen from above.'],
 ['{G^} told the neighbors that the sky was falling, and the neighbors told their cousins that it had already begun.', '"Something big," said {F} to {G}. "Something enormous," said {G} to all the others. "A piece of the moon!"'],
 ['They ran with pillows on their heads. They hid the {foods} in the cellar. {H} ran too, because all the others were running.', 'By noon they were standing in front of the house with ropes and ladders and a wheelbarrow for the moon.'],
 ['Then {H} stopped. "Who saw it?" {H he} asked. "I heard it from {G}," said one. "I heard it from {F}," said {G}.', '"Which way did it go?" they asked {H}. "What did it look like? Did it shine?" {H} had not seen anything. {H He} began to feel uncomfortable.'],
 ['They went to {F}. "What did you say about the sky?" {F^} rubbed {F his} eyes. "I said that it was a sky for a nap," said {F}.', '{H} climbed up the ladder, and they all looked up at {H him}. {H He} came down again with the plum in {H his} hand.'],
 ['They took the pillows from their heads and looked at them. And since they had them with them, they all lay down.', 'There was a long silence. Then {G} said, "But what a big one!" And they cut it into twenty pieces.'])

pair('human', {'F': 'animal', 'M': 'mother'}, 'clever',
 ['{T} {H} was alone at home when there was a knock. "Open, it is your aunt," said a voice that was much too deep.', '{H} was to watch the geese, and there were three robbers in the wood who loved roast goose.'],
 ['"Show me your hand," said {H}. Something was pushed under the door, and it was grey and had claws. "My aunt wears gloves," said {H}.', '{H} had no stick and no dog. {H He} only had [a pot and a spoon|a drum] and a loud voice.'],
 ['The next time it wore gloves. "Sing me the song about the {obj}," said {H}. It howled a little. "My aunt sings better."', '"How many are you?" called the robbers. "Only me and the captain and his twelve soldiers," called {H} from behind the bushes.'],
 ['The third time it brought a cake. {H} looked through the keyhole. It had spectacles on, and a hat, and its tail hung out under the coat.', '{H He} beat on one side and shouted in a low voice, and ran to the other side and shouted in a high one. {Fa^} helped {H him} and cackled like a trumpet.'],
 ['"Put it down on the step, dear aunt," said {H}, "and go and fetch my mother. She is at the hunter\'s."', '"Soldiers, forward!" cried {H}. "Left, right, left, right!" And all the geese marched out of the wood in a row, and hissed.'],
 ['There was a sound of quick feet, and then none at all. It was a good cake.', 'The robbers threw away their bags and ran. In one of the bags there were {foods}, and the soldiers ate them.'])
