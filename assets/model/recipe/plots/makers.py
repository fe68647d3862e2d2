"""Inventors, builders, painters and players."""
from plots import pair

pair('human', {'F': 'human', 'M': 'mother'}, 'try',
 ['{H} invented things. {H He} had invented a [hat that rang a bell when it rained|spoon for left-handed soup|bed that tipped you out at seven], and none of them worked.', '"{H} is inventing again," people said, and shut their windows.'],
 ['{T} {H his} mother sighed, "If only the wash would dry by itself!" {H} took a pencil from behind {H his} ear.', 'This time it was to be a machine that peeled apples, told the time, and rocked the baby.'],
 ['{H He} took the wheels of a cart, an umbrella, and eleven forks. Three days long there was hammering in the shed.', '"What is this part for?" asked {F}. "I do not know yet," said {H}, "but it is going to be important."'],
 ['"Stand back," {H he} cried, and pulled the rope. It rattled, it shook, and it [threw the shirts over the roof|peeled the clock and told the apples].', 'It started well. Then the baby was peeled of its cap, and the apples were rocked to sleep.'],
 ['"It does not work," said {F}. "It does not do what I meant," said {H}. "But what it does, it does very well."', '{H} lay under it and laughed until {H he} got the hiccups. "Now I know forty ways that do not work," {H he} said.'],
 ['And that is how the [shirt thrower|apple rocker] was invented. It is used at every fair to this day.', 'The forty-first one dried the wash. It was a string between two trees, but with a very good knot.'])

pair('human', {'O': ['old man', 'old woman', 'painter'], 'F': 'animal'}, 'wonder',
 ['{H} found a {color} pencil that had belonged to {Oa}. Whatever {H he} drew with it could be used.', '{O^} gave {H} a box of paints. "Be careful with the blue," said {O}.'],
 ['{H He} drew a door on the wall and went through it. {H He} drew {food1} and ate it.', '{H} painted a bird, and the bird turned its head. {H He} painted a window, and a wind came in.'],
 ['Then {H he} drew {Fa}, and {F he} jumped down from the paper and said, "You have forgotten my [left ear|tail]."', 'Then {H he} painted the sea. {H He} used all of the blue. It ran over the edge of the paper and under the door.'],
 ['"Now draw me a friend," said {F}, "and a house, and a lake to sail on." The pencil grew shorter and shorter.', '{H} stood in the water up to {H his} belt and painted as fast as {H he} could: a boat, and a sail, and {Fa} to steer it.'],
 ['There was only a little end left. {H} thought for a long time about what was still missing. Then {H he} drew [another pencil|a way home].', 'They sailed over the garden and over the church. "Where to?" asked {F}. {H} dipped the brush into the yellow and painted a shore.'],
 ['It was just as short as the first one. But {F} only laughed. "Then we must do the rest by hand," said {F}.', 'When the paint was dry, so was the world. {H} hung the picture over {H his} bed, and some nights the floor is a little wet.'])

pair('human', {'F': 'fly', 'O': ['old man', 'carpenter', 'grandmother']}, 'patience',
 ['{H} wanted a fiddle, but a fiddle cost more than a cow. "Then make one," said {O}.', 'In the attic {H} found a fiddle without strings. It had belonged to {O}, who had stopped playing long ago.'],
 ['So {H} went and asked the trees. {H He} knocked on each of them and listened. Most of them only said tock.', '"It is broken," said {O}, and turned away. "It is only quiet," said {H}.'],
 ['At last {H he} found an old pine that a storm had brought down. When {H he} knocked, it hummed.', '{H} got one string from the tailor, and one from the fisherman, and one from the clockmaker, and the last one {H he} spun {H himself}.'],
 ['All winter long {H he} cut and scraped. Sometimes {Fa} came and looked on, with its head to one side.', 'The first note sounded like a door. {Fa^} on the roof fell off. {H} practised in the barn, where only the cow could hear it.'],
 ['When it was done, it made a noise like a gate. {H} could have cried. "It has to learn, just as you do," said {O}.', 'Night after night {H he} played. And one evening there was someone at the barn door. "The third note is too low," said {O}.'],
 ['They learned together. And in the summer, when {H} played, {F} sang with it, and one could not tell them apart.', '{O} took the bow, only to show how it was done, and did not give it back until it was morning. After that they had to share it.'])

pair(None, {'F': None}, 'work',
 ['There was a stream between the house of {H} and the house of {F}, and no bridge. To visit each other they had to go around by the {place}, and that took an hour.', '{H} wanted to build a tower up to the clouds. "What will you do up there?" asked {F}. "Look down," said {H}.'],
 ['"Let us build a bridge," said {H}. {H He} began on {H his} side, and {F} began on {F his} side.', 'They piled up stones. They piled up boxes, and chairs, and the table on top of them.'],
 ['They worked for a week. When they came to the middle, one half was as high as a knee and the other half was as high as a nose.', 'With every day they had to climb farther before they could begin. By Friday they got up there at noon and had to come down for supper.'],
 ['"Yours is too low," said {H}. "Yours is too high," said {F}. They sat on their two ends and did not speak.', '"I cannot see the cloud from here," said {F}. "It is always a bit higher." They sat down on the top chair to rest.'],
 ['"We could put a step in the middle," said {F} after a while. "Or two," said {H}.', 'And because they were sitting there, they saw the whole {place}, and the river like a ribbon, and two tiny houses.'],
 ['It is the only bridge in the land with stairs. People come from far away to look at it.', '"It is high enough," said {H}. They did not build any more, but they came up every evening to watch the sun go down.'])

pair('human', {'V': ['mayor', 'king', 'merchant'], 'F': 'human'}, 'clever',
 ['The clock in the square was too slow, the well was too deep, and {V} was too fat to bend down. {H} saw it all and wrote it in {H his} notebook.', '"I will pay ten gold coins," said {V}, "to whoever can carry a fire in paper and the wind in a bag."'],
 ['"What do you write there?" asked {F}. "What can be made better," said {H}. The notebook was nearly full.', 'People burned their fingers, and people ran about with open sacks. {H} sat on the wall and thought.'],
 ['First {H he} made a long handle for {V}, to tie {V his} shoes with. Then {H he} put a wheel on the well, so that even the smallest child could draw water.', '"Paper does not like fire," said {F}. "It depends on how far apart they are," said {H}.'],
 ['"Stop," said {V}. "If everything is easy, what shall people complain about?" {H} turned a page. "I have thought of that too," {H he} said.', 'That evening {H he} came before {V} with a lantern of paper, and a small candle in the middle of it. "Here is the fire in paper."'],
 ['And {H he} hung up a big board in the square, where everyone could write down what was wrong. On the first day it was full.', '"And the wind?" asked {V}. {H} took out {H his} uncle\'s bagpipes and squeezed. It was the wind, there was no doubt of it.'],
 ['On the second day somebody had written below it how to mend it. After that {H} only needed to read.', '"Ten coins," said {V}, with both hands over {V his} ears, "and five more if you stop."'])

pair('human', {'F': 'animal', 'M': 'mother'}, 'kind',
 ['{H}\'s little sister was ill and could not go outside, and it was spring. "What does the garden look like now?" she asked.', 'The window of {H}\'s grandmother looked out on a grey wall, and she could not walk any more.'],
 ['{H} told her, but it is hard to tell a smell. So {H he} brought in a flower. The next day {H he} brought two, and a snail.', '{T} {H} took a bucket of white paint and climbed over the fence.'],
 ['"And what does the pond look like?" {H} filled a bowl with water and put a frog in it. The frog did not stay in the bowl.', 'First {H he} painted a tree. It was meant to be an apple tree, but it looked like a cloud, so {H he} painted a sky around it.'],
 ['On the fifth day there was grass in the tub, and a bird\'s nest on the wardrobe, and {Fa} under the bed. "{H^}!" cried {H his} mother.', 'The man who owned the wall came out. "What are you doing to my wall?" he shouted. {H} pointed up at the window with the brush.'],
 ['Then she saw the sister, who was sitting up and had red cheeks. She shut her mouth again and wiped her feet on the grass.', 'The man looked up. An old hand was waving at him. He scratched his head and went in, and came out with a pot of red. "For the apples," he said.'],
 ['When the sister was well, they carried it all out again. Only the snail was never found.', 'By autumn it was a garden with a river and a cow in it. "I have the finest view in town," said {H}\'s grandmother.'])

pair('human', {'F': 'human', 'O': ['cook', 'baker', 'grandmother']}, 'listen',
 ['Nobody could make soup like {O}. "What is the secret?" {H} asked every day. "There is none," said {O}.', 'There was a contest for the best cake in town, and {H} wanted to win it.'],
 ['{H} watched through the keyhole. A carrot, a leek, an onion, salt. It was just what everyone put in.', '{F} made a cake with three floors. {H} made one with four, and with a bell on top.'],
 ['{H He} cooked it at home in the same way, and it tasted like warm water. {H He} cooked it once more and put in [pepper|ginger|everything].', '"A little more sugar," thought {H}, "and a little more cream, and a little more of the green stuff."'],
 ['"You look so cross at it," said {O}. "Come here and stir mine. But slowly. And tell me about your day."', 'Nobody asked {O}, who was cutting a plain brown cake at the end of the table and giving the pieces to the children.'],
 ['{H} stirred and talked, and {O} listened. When the day had been told, the soup was done.', 'The judges tried one bite of this and one bite of that, and they all looked a bit green. Then one of them sat down with the children.'],
 ['"There!" said {H} with a full mouth. "Now it tastes right. What did you put in?" "I? Nothing," said {O}. "You did it."', '"Is there any left?" asked {H}. There was one slice. It tasted of butter and of nothing else, and it was the best {H he} had ever had.'])

pair('human', {'G': ['uncle', 'aunt', 'grandmother'], 'F': 'animal'}, 'brave',
 ['In the shed of {G} stood a machine under a cloth. "What is that?" asked {H}. "That," said {G}, "will fly. Perhaps."', '{G^} had sewn a balloon out of old [curtains|bed sheets]. It was {color} with {color2} spots.'],
 ['It had wings like a bat and pedals like a bicycle, and it smelled of oil and hope.', '"It will carry one," said {G}, "and that one must be light." They both looked at {H}.'],
 ['"I am too heavy for it," said {G}. "{H} is not," said {F}, and that is how it came about.', '{H} climbed into the basket with {F} and {food1}. "Let go!" {H he} called, before {H he} could change {H his} mind.'],
 ['They pushed it up the hill. {H} began to pedal. The grass went by, the fence went by, and then nothing went by at all.', 'The ground went away quite softly, as if someone were pulling it down on a string. There was no sound at all.'],
 ['"I am flying!" {H he} cried. It was over in as long as it takes to say it three times. Then {H he} was sitting in the [pond|haystack|apple tree].', 'They flew over the school, where the others were doing sums. {H} dropped a raisin on the bell. Ding!'],
 ['"How was it?" called {G}. "Short," said {H}, and picked the leaves out of {H his} hair. "But it was all of it up."', 'They came down in a field of [clover|oats], thirty miles away, and a farmer gave them a ride home on his cart. It took until evening, and it was very bumpy.'])
