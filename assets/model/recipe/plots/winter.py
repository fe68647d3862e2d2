"""Winter, snow and feasts."""
from plots import pair

pair('human', {'F': 'fly', 'M': 'mother'}, 'kind',
 ['It was so cold that the words froze in the air, and {H} could see them lie in the snow.', 'The winter would not end. The wood was nearly gone, and the birds sat on the fence like little balls.'],
 ['On the window sat {Fa} and knocked with {F his} beak. "[Have you a crumb?|I cannot feel my toes]," said {F}.', '{T} {H} saw {Fa} in the snow that did not fly away when {H he} came near.'],
 ['"Shut the window," said {H his} brother. "We have little enough." But {H} broke off the end of {H his} bread.', '{H} took {F him} inside {H his} coat, where it was dark and warm, and felt a tiny heart go tap, tap, tap.'],
 ['The next day there were two of them, and the day after that there were ten. {H} gave to each of them, and ate a little less.', '"You may stay until the snow melts," said {H his} mother. "But not in the soup bowl." {F^} moved into the slipper.'],
 ['Then came the day when there was nothing left to give. "I am sorry," said {H}. The birds looked at {H him} and flew away, all at once.', 'All winter {F} said nothing. {H} read aloud to {F him} and thought that {F he} was asleep.'],
 ['In the evening they came back, each with [a twig|a seed|a nut] in the beak. They laid them down before the door, and it was enough for a fire and a supper.', 'And in spring, on the first warm day, {F} sat down on the gate and sang the whole book, from the first page to the last.'])

pair(None, {'F': None}, 'friend',
 ['{H} and {F} had one sled between them. "I sit in front," said {H}. "You sat in front yesterday," said {F}.', 'The hill was white, and {H} and {F} were the first ones on it. They pulled the {color} sled behind them.'],
 ['They both sat in front, and the sled tipped over.', 'Up they went, and down they flew, up and down, until [their noses were as red as berries|the stars came out].'],
 ['They both sat behind, and the sled would not start.', '"One more time," said {H}. "That is what you said the last time," said {F}. "Then this is the last time again," said {H}.'],
 ['Then they both pushed, and it went off without them, all the way down, through the hedge, and into the kitchen of the neighbor.', 'They shot over the bump, and into the air, and there they saw the whole valley at once, with all its lights.'],
 ['"Whose sled is this?" asked the neighbor. "Ours," they both said. She had to laugh, and she gave them cocoa.', 'Then they were lying in the deep snow, and it was very quiet. "Are you there?" asked {H}. "I think so," said {F}.'],
 ['On the way back they took turns. It was much faster, but they agreed that the other way had been more fun.', 'They walked home slowly, each with one hand on the rope.'])

pair('human', {'G': ['grandmother', 'old man', 'uncle'], 'F': 'animal'}, 'kind',
 ['It was the evening before the feast, and there was snow up to the windows. {H} and {H his} family could not go out, and the guests could not come in.', 'Every year at midwinter {H}\'s family set one plate too many. "For whom?" asked {H}. "For whoever comes," said {H his} father. But nobody had ever come.'],
 ['"Then we must have the feast without a goose and without a tree," said {G}.', '{T} {H} laid the spoons. Outside the wind was howling, and inside it smelled of {foods}.'],
 ['{H} went up to the attic and looked around. {H He} found an umbrella without cloth, and twelve clothes pegs, and a ball of {color} wool.', 'There was a knock, so soft that {H} thought it was a branch. {H He} opened the door, and there stood {Fa} with snow on {F his} ears.'],
 ['{H He} opened the umbrella and hung it from the lamp, and on each end of it {H he} hung something: a nut, a spoon, a star of straw.', '"I saw the light," said {F}. "I can go on again if it is for somebody else." "It is for you," said {H}. "It always was."'],
 ['Instead of the goose there was [bread soup|a big omelette], and {G} carved it with a fork as if it had legs.', '{F^} sat down on the chair that had always been empty. It was a little too high, so they put two books on it.'],
 ['Long afterwards nobody could remember the feasts with the goose. But everyone remembered the one with the umbrella.', 'The next year they set one plate too many again, and one more for {F}.'])

pair('human', {'W': ['old man', 'old woman'], 'F': 'animal'}, 'wonder',
 ['{H} wanted to see where the winter lives. So {H he} walked north until there was nothing there but north.', 'One year it did not snow. It was January, and it was grey. "Somebody should go and ask," said {H}.'],
 ['There stood a house of ice, and before the house {W} was shaking out a feather bed. "Come in," said {W}, "but keep your hat on."', 'On top of the hill lived {Wa} who had charge of the clouds. {H} found {W him} in bed, with {W his} feet in a bucket.'],
 ['In the house stood twelve chests. "In this one is the frost," said {W}, "and in this one is the silence after it has snowed. I am proud of that one."', '"I have a cold," said {W}. "I ought to have sent the snow on Tuesday. Now I cannot find the list."'],
 ['"And what is in the last one?" asked {H}. {W^} lifted the lid. A snowdrop lay in it, fast asleep. "That is how it ends," said {W}. "It always ends. But people forget it."', '{H} made tea with honey. Then {H he} looked under the bed, and there was the list, and there was {Fa} sitting on it.'],
 ['{H} got a small box to take home. "Open it when it is too loud," said {W}.', '"First the flakes, then the wind, and not the other way around," read {H}. {W^} told {H him} which rope to pull.'],
 ['And sometimes, when everyone is shouting at once, {H} opens it just a little. Then it snows somewhere.', 'The next morning all the children shouted. {H} shouted too, but {H he} did not tell anyone. Nobody would have believed {H him}.'])

pair('animal', {'F': 'animal', 'G': 'small'}, 'share',
 ['In the coldest night of the year {H} had the warmest [den|burrow|corner] in the whole wood. {H He} rolled {H himself} up and shut {H his} eyes.', 'There was an old glove lying in the snow, and {H} moved into it. It was soft and dark and smelled of apples.'],
 ['Knock, knock. "It is {F}. My roof has blown away." "There is only room for one," said {H}. But then {H he} heard {F his} teeth chatter, and moved over.', '"Who lives in the glove?" asked {F}. "I do," said {H}. "Is there a finger free?" "Four," said {H}. "Come in."'],
 ['Knock, knock. "It is {G}. My bed is under water." "There is only room for two," said {F}. But {H} moved over again.', 'Then came {G}, and took the thumb. Then came a whole family of mice, and took the little finger.'],
 ['So it went all night. They lay on top of each other like spoons. "Somebody has cold feet," said {H}. "We all have," said somebody.', 'The glove grew tight. "Breathe in," said {H}, whenever anyone else knocked. And they breathed in.'],
 ['Toward morning it was so warm that the snow on the roof melted, and icicles hung before the door like a curtain.', 'In the morning a boy came along the road, looking at the ground. They all ran out, one after another, and he counted eleven.'],
 ['"There was room for one," said {H}, when they had all gone. {H He} lay down again. It was a great deal of room, and rather cold. "Come back!" {H he} called.', 'He took the glove and looked at it. Then he put it back and walked home with one hand in his pocket.'])

pair('human', {'F': 'human', 'O': ['baker', 'cook', 'grandmother']}, 'share',
 ['For the winter feast {H} was to carry the big cake from {O} across the whole town. "Do not eat any of it," said {O}. "And do not run."', '{O^} had baked a house of gingerbread with windows of sugar. {H} and {F} were to watch it until evening.'],
 ['{H} did not run, and {H he} did not eat. But it smelled so good that people came out of their doors and walked behind {H him}.', '"The chimney is a little crooked," said {F}. "It would look better without it," said {H}. So they ate the chimney.'],
 ['First came {F}, and then the postman, and then three dogs, and then a man with a tuba.', '"Now the roof looks too long on this side," said {H}. They made it even. Then it was too long on the other side.'],
 ['At the corner the ice was smooth. {H} slipped. The cake rose into the air, and everyone held out whatever they had: hats, aprons, hands.', 'When they had finished with making it even, there was one wall left, and it leaned on nothing.'],
 ['It came down in forty pieces, and each piece was caught. Not a crumb fell into the snow.', '"What will {O} say?" whispered {F}. They had stomach aches, and they had flour on their chins. There was no use in lying.'],
 ['"Well," said {O}, when {O he} saw them all come in. "I wanted to cut it anyway." And they ate it together, each out of a hat.', '"I see," said {O}. "The house has burned down." Then {O he} pushed the bowl over to them. "Whoever lives in a house must also be able to build one. There is the flour."'])

pair('human', {'F': 'animal', 'O': ['old woman', 'old man']}, 'work',
 ['The first snow had come early, and {O} next door had no wood in the shed. {O He} was too proud to ask.', '{H} had a shovel and no money, and there was a {color} {obj} in the shop window.'],
 ['{H} saw that no smoke rose from the chimney. That evening {H he} put three logs before the door, knocked, and ran.', 'It had snowed all night. {H} went from door to door. "Two pennies for the steps," {H he} said, "and three for the path."'],
 ['The next morning there were three [socks|apples] lying on {H his} own step. {H} laughed and brought three more logs.', 'By noon {H} had eight pennies and a sore back. {Fa^} walked behind {H him} and made a pattern in the clean places.'],
 ['So it went on. Nobody ever saw anyone, and nobody ever said a word.', 'The last house was that of {Oa}, with a long, long path. "I cannot pay you," said {O}, "but I would so like to get out."'],
 ['In the spring they met at the fence. "It was a hard winter," said {O}. "Not so hard," said {H}.', '{H} looked at the sun, which was low, and at the shop, which would soon be shut. Then {H he} began at the gate.'],
 ['They both looked at the sky and smiled, each of them to a different side.', 'The {obj} was gone the next day. But {H} had {food1}, still warm, and somebody who waved from the window whenever {H he} went by.'])

pair('animal', {'F': 'fly', 'G': 'animal'}, 'wonder',
 ['{H} always slept through the winter. "What is it like?" {H he} asked. "White," said {F}. "Long," said {G}.', '"This year I will stay awake," said {H}. "I want to see the snow just once."'],
 ['"You would not like it," they said. But that only made {H him} want it more.', '{H He} drank cold water and stood on one leg. In November {H he} fell over twice. In December {H he} leaned on a tree.'],
 ['"Wake me," said {H}, "when it is most beautiful. Only for an hour." And {F} promised.', '"Talk to me," {H he} said to {F}. So {F} talked, and told {H him} everything {F he} knew, and then began again.'],
 ['In the middle of January something pulled at {H his} ear. "Now," said {F}.', 'And then it came. One flake sat down on {H his} nose, and looked like a star, and was gone.'],
 ['The moon was shining. Every twig had a white coat, and there was no sound in the whole world. {H} stood in it with open mouth.', '"Oh," said {H}. More and more came down, and soon one could not see where the earth ended and the sky began.'],
 ['Then {H he} crept back into the warm and slept on, with cold feet and a smile. "What did you dream?" they asked in spring. "I did not dream it," said {H}.', '"So that is what it is," {H he} said, and slept before {H he} could sit down. They covered {H him} with leaves.'])
