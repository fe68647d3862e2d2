"""Mistakes and amends."""
from plots import pair

pair('human', {'F': 'human', 'M': 'mother'}, 'truth',
 ['{H} had borrowed the {color} {obj} of {F}, and now it was [broken|lost|full of mud].', '{F} had lent {H} {aobj}. "Take good care of it," {F he} had said. {H} left it in the rain.'],
 ['{H He} bought a new one that looked nearly the same. Nearly is a long word.', '{H He} dried it by the stove, and that made it worse. {H He} put it in a bag, and the bag in a box, and the box under the bed.'],
 ['"Is that mine?" asked {F}. "It looks so clean." "I washed it," said {H}. That was one lie. Soon there were four.', '"Have you still got my {obj}?" asked {F} on Monday. "Tomorrow," said {H}. {H He} said it on Tuesday too.'],
 ['A lie wants company. {H} had to remember what {H he} had told to whom, and {H he} began to walk around the house of {F} in a wide circle.', '{H} stopped answering when {F} knocked. {H He} sat on the bed, and under {H him} sat the box.'],
 ['At last {H he} had enough of it. "I want to tell you something," {H he} said, and out it came, all in one breath, like a sneeze.', '"You have to carry it either way," said {H his} mother, who had seen the box. "To {F}, or around with you."'],
 ['"I knew it," said {F}. "Mine had a scratch. But I did not know how to say it." They both felt much lighter, and they scratched the new one together.', 'So {H} carried it to {F}. "It is only a {obj}," said {F}, after {F he} had looked at it for a while. "I thought I had lost you."'])

pair('human', {'F': 'human'}, 'kind',
 ['{H} had a quick tongue. {T} {H he} said something about {F} that made everyone laugh. Only {F} did not laugh.', '{H} drew a picture of {F} with [a very long nose|enormous ears] and passed it around. It was a very good picture.'],
 ['It was over in a moment. But the words did not go away. They hung in the room like smoke.', 'Everyone had a look at it. Then it came to {F}. {F He} looked too, and folded it up small, and put it in {F his} pocket.'],
 ['"It was only a joke," said {H}. "Then why am I not laughing?" said {F}.', 'The next day {F} was not there, and the day after that {F he} sat in another place.'],
 ['"Take a bag of feathers," said {H}\'s grandmother, "and shake it out at the window. And now go and gather them all up again."', '{H} tried to draw something else, but everything came out with [long noses|big ears].'],
 ['{H} ran about until night. {H He} found eleven. "Words are like that," said {H his} grandmother. "But eleven are better than none."', 'Then {H he} drew the two of them on the [sled|raft], as it had really been that day when they had laughed so much. It took {H him} the whole afternoon.'],
 ['In the morning {H} went to {F} and said that {H he} was sorry, in front of everyone, just as the joke had been. It was quiet. Then {F} moved over to make room.', '{H He} put it on the table of {F} without a word. {F} looked at it for a long time. "My nose is good here," said {F}. "I can leave it like that?" asked {H}. "You can leave it like that."'])

pair('animal', {'F': 'animal', 'G': 'animal'}, 'truth',
 ['A whole pot of honey was missing, and everyone said that {F} had done it, because {F he} had done it the last time.', 'Someone had eaten the {foods} that were meant for the feast. "It was {F}," said {G}. "I saw a tail."'],
 ['{F^} said no. But {F he} went red, and that was enough for them.', '"I have a tail too," said {H}. "Yes," said {G}, "but you have never done such a thing."'],
 ['Nobody played with {F} any more. {H} was uneasy, for {H he} had a sticky spot on {H his} coat, and {H he} knew where it came from.', '{H} lay awake. It is easy to be thought good. One does not have to do anything for it.'],
 ['{H He} had only wanted to taste it. And then the pot had been empty.', 'In the dark {H he} counted them once more: four with jam and three without. It had been {H he}, and nobody else.'],
 ['{T} they all sat together, and {H} stood up. "It was I," {H he} said. It grew so still that you could hear the bees.', 'In the morning {H he} called them all together under the tree. "I have a tail," said {H}, "and it was this one."'],
 ['{H} had to fetch new honey, and that took a week and cost seven stings. {F} went along and carried the pot. "I know how it is," said {F}.', '{G^} went to {F} and said, "I have done you wrong." And because there was nothing left to eat, they had a feast with music only.'])

pair('human', {'O': ['farmer', 'gardener', 'old woman', 'miller'], 'F': 'human'}, 'work',
 ['{H} and {F} were playing ball where it was not allowed. Crash! There was a hole in the window of {O}, and it had the shape of a star.', '{H} forgot to shut the gate, and the goats of {O} ate everything: the cabbage, the roses, and a shirt.'],
 ['"Run!" cried {F}, and they ran. But {H} heard the crash all the way home.', '"Who left the gate open?" cried {O}. The goats said nothing. {H} could have said nothing too.'],
 ['In bed {H he} thought of the cold that was coming in through the star.', '"It was I," said {H}. {O^} looked at {H him} from top to toe. "Well," said {O}, "then you know what there is to do."'],
 ['In the morning {H he} went back. "I have come about the hole," said {H}. "I have no money, but I have two hands."', '{H} dug, and {H} planted. {H He} came every day after school. At first {O} only stood there with folded arms.'],
 ['{O^} gave {H him} a broom, and after the broom a rake, and after the rake a piece of pie.', 'In the second week {O} gave {H him} a hat against the sun. In the third week {O he} told {H him} how to talk to beans.'],
 ['When the glass was paid for, {H} came again the next day. "You do not owe me anything," said {O}. "I know," said {H}. "Is there any pie?"', 'By August everything stood higher than before. {H} shut the gate, and looked, and shut it once more.'])

pair('human', {'M': 'mother', 'F': 'animal'}, 'listen',
 ['{H} never listened to the end. "Yes, yes," {H he} said, and was already out of the door.', '{H} always said "in a minute". "Lay the table!" "In a minute." "Wash your neck!" "In a minute."'],
 ['"Take the pot to your aunt," said {H his} mother, "and whatever you do, do not--" But {H} was gone.', '{T} a small grey man stood in the room. "I have come for my minutes," he said. "You have used four hundred and twelve of them, and none of them was yours."'],
 ['Do not what? {H} thought about it on the road. Do not run? {H He} walked. Do not stop? {H He} ran. Do not talk to anyone? {Fa^} said good morning, and {H} did not answer.', '"I will give them back," said {H}. "When?" asked the man. "In a--" said {H}, and bit {H his} tongue.'],
 ['Do not shake it? {H He} carried it like an egg. Do not look inside? Then {H he} had to look, of course. There was soup in it.', '{H} laid the table at once. {H He} washed {H his} neck at once. It was wonderful how long the evening was.'],
 ['"Good day, aunt," said {H}. "Here is the pot. What is it that I must not do?" The aunt laughed. "Do not forget the spoon," she said.', 'The small grey man counted on his fingers. "Four hundred and twelve," he said. "We are even. Good-bye." "Wait a minute!" called {H}, but he was already gone.'],
 ['They drank the soup out of two shoes of glass that stood on the shelf. And since then {H} waits for the last word, and sometimes for one more.', 'Since then {H} says "now", and sometimes, when it is something unpleasant, {H he} says it twice.'])

pair(None, {'F': None, 'G': 'small'}, 'friend',
 ['{H} was angry. {H He} did not know why any more, but it was a good big anger, and {H he} took it for a walk.', '"I am never going to speak to you again," said {H} to {F}. "Good," said {F}. "Good," said {H}.'],
 ['It would not go through the gate, so {H he} slammed the gate. It wanted to kick something, so they kicked a bucket.', 'They sat on the same wall and looked in two directions. A {color} butterfly came by. {H} almost said something.'],
 ['"What have you got there?" asked {Ga}. "An anger," said {H}. "May I hold it?" asked {G}.', '"Tell {F} that {F he} is sitting on my coat," said {H} to {Ga}. "{H^} says that you are sitting on the coat," said {G} to {F}.'],
 ['{G^} held it carefully in both paws. "It is hot," said {G}. "And it is getting smaller."', '"Tell {H} that it is my coat," said {F}. "{F^} says that it is {F his} coat," said {G} to {H}. It was. They had changed them that morning.'],
 ['And it was true. When they had carried it as far as the {place}, it was no bigger than a pea.', '{G^} ran back and forth until {G he} was out of breath. "Tell each other yourselves," said {G} and lay down in the grass.'],
 ['{H} put it in {H his} pocket, in case {H he} should need it again. When {H he} looked for it that evening, there was only a hole.', '"Tell {F} that {G} is right," said {H}. "I heard it," said {F}. And they both began to laugh.'])
