"""Weather, gardens and the seasons."""
from plots import pair

pair(None, {'F': None, 'G': 'fly'}, 'wonder',
 ['The wind had lost its voice. It blew, but there was no sound, and the trees moved like fish in the water.', '{T} the wind took the hat of {H} and did not bring it back.'],
 ['"Somebody must find it," said {F}. So {H} and {F} looked in all the places where a voice might be.', '{H} ran after it, over the {place} and through the hedge. "Give it back!" {H he} called. The wind only turned the hat around.'],
 ['They listened at bottles. They listened at keyholes. They listened at the big shell on the shelf, but there was only the sea in it.', 'It put the hat on a scarecrow. When {H} came near, it took it off again and put it on a cow.'],
 ['Then {Ga} said, "There is something in the old chimney that keeps saying whoo."', '"It wants to play," said {F}. "With my hat?" said {H}. "It has nothing of its own," said {F}.'],
 ['They opened the flap. Something rushed past them, and all at once every door in the village slammed.', 'So {H} sat down and folded a boat out of paper, and then a bird, and held it up. "Here," {H he} said. "This one is for you."'],
 ['"Thank you!" roared the wind, and then, more softly, because it had forgotten how loud it was, "thank you."', 'The wind took the bird and was gone. And the hat came rolling down the hill and stopped before {H his} feet.'])

pair('human', {'F': 'animal', 'O': ['old woman', 'old man', 'gardener']}, 'patience',
 ['It had rained for three weeks. {H} had read every book and counted every drop.', '{H} wanted to see how the grass grows. {H He} lay down in front of it and looked.'],
 ['"When will it stop?" {H he} asked {O}. "When it is empty," said {O}, and looked up.', '"You cannot see it," said {O}. "I have very good eyes," said {H}.'],
 ['{T} {H} put on {H his} boots and went out. It was quite different out there. The puddles jumped, and the roofs sang.', 'An ant came by. A drop ran down a stalk and stopped halfway. {H} did not move.'],
 ['By the gate sat {Fa} and was having a bath. "What are you doing out here?" asked {F}. "I do not know yet," said {H}.', '{Fa^} came and asked what {H he} was doing. "Quiet," said {H}. "It is just about to." {F^} lay down beside {H him}.'],
 ['They built a dam, and a harbor, and a mill that turned. They were so wet that they could not get any wetter, and then it is all the same.', 'The clouds went over, and the bells rang twelve. {H His} eyes fell shut, only for a moment.'],
 ['"It has stopped," said {O} from the window. "Oh no," said {H}.', 'When {H he} woke up, there was a blade of grass in {H his} ear. "You see?" said {O}. "It waited until you were not looking."'])

pair('human', {'O': ['farmer', 'gardener', 'grandmother'], 'F': 'small'}, 'work',
 ['There grew a turnip in the field of {O}, and it grew, and did not stop. "It is time to pull it out," said {O}.', 'The biggest pumpkin in the village would get a prize, and {H} had planted one in {H his} corner of the yard.'],
 ['{O^} pulled. Then {H} held on to {O}, and they both pulled. The turnip stayed where it was.', '{H He} gave it water, and {H he} gave it milk, and in the evening {H he} read to it from the newspaper.'],
 ['They called the neighbor, and the neighbor called his cow. They all stood in a row and pulled until their faces were as red as beets.', 'It grew as high as {H his} knee, and then as high as {H his} belt. The vine climbed over the wall to see what was there.'],
 ['"I can help too," said {Fa}. They laughed, for {F he} was no bigger than a potato.', 'On the evening before the fair {H} noticed a little hole in it. Inside sat {Fa} with all {F his} children. "We did not know that it belonged to anyone," said {F}.'],
 ['But {F} did not pull. {F He} dug a little on this side, and a little on that side, and bit through the longest root.', '{H} looked at the pumpkin, and then {H he} looked at the six small faces. "Is it dry in there?" {H he} asked. "Very," said {F}.'],
 ['Pop! They all fell over backwards. There was soup for a month, and {F} got the first plate.', '{H} went to the fair with a bunch of radishes. They did not win anything. But on the way home there was a light in the pumpkin, and it looked fine.'])

pair('human', {'F': 'human', 'C': ['old woman', 'old man']}, 'wonder',
 ['{H} had always wanted to catch a cloud. {T} one came down so low that it got stuck on the church.', 'There was a fog so thick that you could have cut it with a knife. {H} took a knife and tried it.'],
 ['{H He} ran up the tower with a butterfly net. The cloud was as soft as wool, and it trembled.', 'It worked. {H He} cut out a piece as big as a loaf and carried it home in a basket.'],
 ['"Do not be afraid," said {H}. "I only wanted to look at you." {H He} unhooked it from the cross, one thread at a time.', '"What do you want with that?" asked {F}. {H} made a pillow out of it, and it was cool in summer and smelled of morning.'],
 ['"What would you like for it?" asked the cloud. {H} thought it over. "Once around the town," {H he} said.', 'Soon everyone wanted one. {H} cut a scarf for {F}, and a cushion for {C}, and a whole bed for the cat.'],
 ['They went very slowly. {H} lay on {H his} stomach and saw the chimneys from above, and the mayor, who was bald in the middle.', 'But when the sun came out, there was a great dripping in all the houses. {C^} woke up in a puddle.'],
 ['It set {H him} down in the garden, and it rained a few drops, just on the beans.', '"It was nice while it lasted," said {C}. And when there is a fog again, they all go out with their knives.'])

pair('human', {'F': 'animal', 'G': ['grandmother', 'uncle', 'old woman']}, 'wonder',
 ['"In my garden," said {G}, "something blooms on every day of the year." "Even in January?" asked {H}. "Come and look," said {G}.', 'Nobody had set foot in the garden behind the high wall for ten years. {H} had only seen the tops of its trees.'],
 ['So {H} came in January. There was a small {color} flower under the snow. {H} would have stepped on it.', '{T} {Fa} scratched at the foot of the wall, and something iron came to light. It was a key.'],
 ['{H He} came in February, and {H he} came in March. {G^} showed {H him} where to look, and each time it was somewhere else.', 'The door was hidden behind the ivy. It groaned. Inside everything was grey and tangled, and it was very still.'],
 ['In summer it was easy, and in autumn it was a matter of luck. In November {H} searched for an hour, until {F} sneezed at a twig, and the twig was yellow.', '"It is dead," said {H}. But {F} dug a bit, and there was a green tip under the leaves, as thin as a needle.'],
 ['On the last day of the year there was nothing at all. {H} was afraid that {G} might be wrong. "Look in the window," said {G}.', '{H} came every day, with a rake, and with scissors, and told nobody but {G}. {H He} cut away what was dry, and let the light in.'],
 ['There, on the glass, the frost had made a whole garden of ferns and stars. "That counts," said {H}.', 'In June {H he} led {G} through the little door with {G his} eyes shut. "Now," said {H}. It smelled of roses, and {G} did not open {G his} eyes for a while.'])

pair('animal', {'F': 'animal', 'G': 'animal'}, 'share',
 ['The first warm day had come, and {H} wanted to keep it. {H He} opened a jar, let the sun shine into it, and screwed on the lid.', 'There was one tree, and in its shade there was room for everyone. "It is my shade," said {H} one day, "for I was here first."'],
 ['"What is in there?" asked {F}. "May," said {H}. "I am going to save it."', '{F^} moved over to the sun, and {G} moved over to the sun. {H} lay down in the shade and stretched all four legs.'],
 ['The next days were just as warm. {H} hardly went out. {H He} sat and guarded the jar.', 'An hour later the shade had moved on a little. {H} got up and lay down in it again.'],
 ['In the winter they all sat together, and it was grey. "Now!" said {H}, and {H he} brought the jar and opened the lid.', 'At noon it was as small as a plate, and {H} stood on it with three feet.'],
 ['Nothing came out. There was only a dry leaf in it. {H} was ashamed. "Tell us about it," said {F}. "I was not there," said {H}.', 'In the evening it was long, and it fell right across {F} and {G}. "Now it is lying on us," said {F}. "Would you like a piece?"'],
 ['So {F} told about the violets, and {G} told about the first swim. And slowly it grew warm in the room. The next May {H} was out from morning till night.', '"I think it belongs to the tree," said {H}. And nobody owned it any more, so there was enough of it.'])

pair('human', {'F': 'human', 'O': ['old man', 'farmer', 'old woman']}, 'brave',
 ['The river was rising. Every hour {O} put a stick into the mud, and every hour the stick was under water.', 'There was a crack in the dam, no wider than a finger. Only {H} saw it, because {H he} had dropped {H his} {food}.'],
 ['"We need sand," said {O}, "and hands." {H} was sent to ring the bell. {H He} rang it until the rope burned.', '{H} pushed {H his} scarf into it, and then {H his} cap. The water pushed back.'],
 ['They came in nightshirts and in boots. They stood in one long row, and the bags went from hand to hand.', '"Run!" {H he} called to {F}. "Get everyone!" Then {H he} set {H his} back against the wall and dug {H his} heels in.'],
 ['{H} stood between the baker and the judge. One could not see who was who in the dark, only hands.', 'It grew dark. It was cold, and it was wet, and the wall hummed behind {H his} back like a hive of bees. {H} hummed too, so as not to be alone.'],
 ['Toward four {O} put in {O his} stick once more. They all looked. It stayed dry.', 'Then there were lanterns, and there were voices, and somebody took {H him} under the arms. "You can let go now," they said. {H} could not, for a while.'],
 ['When the sun rose, they saw each other: the judge in one slipper, and the baker in his wife\'s hat. They laughed until the ducks flew up.', 'The crack was mended with forty stones. On the last one there is a scarf, carved very small. Children look for it.'])

pair('human', {'F': 'animal', 'M': 'mother'}, 'kind',
 ['{H} saw a rainbow that ended just behind the {place}. {H He} ran there, but it ended behind the next hill.', '"The colors are all used up," said {H}. It was November, and everything was grey: the sky, the street, and the soup.'],
 ['{Fa^} ran along. "What will you do when you have it?" asked {F}. "Hold it," said {H}.', '{H} put on {H his} [coat|hat|scarf] and went out to find some. "I will help," said {F}. "I am good at red."'],
 ['They ran over the second hill and over the third. It was always one field farther on.', 'They found a red berry, and a yellow leaf, and the blue lid of a jar. They found a green bottle and a purple button.'],
 ['On the fourth hill a woman was hanging out the wash. "Stop!" she cried. "Do not move! You are standing right in the middle of it. You are all green!"', '{H} laid them all in a row on the sill. The neighbors looked over. One brought an orange, and one brought a pink ribbon.'],
 ['{H} looked at {H his} hands. They looked as they always did. "I cannot see it," {H he} said. "But I can," said the woman.', 'By evening it went from one end of the street to the other.'],
 ['{H} stood still, so that she could look a little longer. It was the least that {H he} could do.', 'It was still November. But {H}\'s mother put a beet in the soup.'])
