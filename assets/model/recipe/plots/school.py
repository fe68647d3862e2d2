"""School, lessons and growing up."""
from plots import pair

pair('human', {'F': 'human', 'O': 'teacher'}, 'brave',
 ['There was to be a play at school, and {H} was to be [the moon|the north wind|a tree with one line]. {H He} had only one sentence to say, and {H he} was afraid of it.', '"Who will read the poem on Friday?" asked the teacher. Everyone looked at the floor. {H} looked at the floor too, but a moment too late.'],
 ['{H He} said it to the cat. {H He} said it to the soup. {H He} said it in {H his} sleep.', 'All week {H} could not swallow properly. "[Perhaps I will catch a cold|Perhaps the school will fall down]," {H he} thought.'],
 ['"What if I forget it?" {H he} asked {F}. "Then look at me," said {F}. "I will [hold up a picture|move my lips]."', '"Everyone is a little afraid," said {F}. "My knees knock so loudly that I keep time with them."'],
 ['Then the evening came, and the hall was full of faces. {H} opened {H his} mouth, and the sentence was gone.', 'On Friday {H} stood in front. {H His} tongue felt like [a sock|a piece of felt].'],
 ['{H He} looked at {F}, and {F} [smiled|crossed {F his} eyes]. And there it was again, every word of it.', 'Then {H he} saw {H his} [grandmother|little brother] in the last row, waving with both arms. {H He} took a breath and began.'],
 ['People clapped so hard that the curtain fell down. "May I have two sentences next year?" asked {H}.', 'When it was over, {H} was almost sorry. "That was not so bad," {H he} said. "Shall I do it once more?"'])

pair('human', {'F': 'human', 'O': 'teacher'}, 'kind',
 ['A new {Fk} came to the school and did not speak a word. {F His} name was {Fn}, and nobody knew where {F he} came from.', '{F^} sat alone on the wall at every break, with {F his} bread on {F his} knees.'],
 ['"Perhaps {F he} cannot talk," said one. "Perhaps {F he} is proud," said another. {H} said nothing, but {H he} thought about it.', 'The others played [tag|ball|marbles], and someone always said, "We are enough already."'],
 ['{T} {H} sat down next to {F him} and drew a [cat|house|dog] in the sand with a stick. {F} took the stick and drew [a mouse|a tree beside it|the tail, which {H} had forgotten].', '{H} broke {H his} {food} in two and held out the bigger half. {F} looked at it for a long time before {F he} took it.'],
 ['The next day they drew a whole town. {H} pointed and said, "Tower." "Tower," said {F}. It was {F his} first word.', '"Thank you," said {F} in a language that {H} did not know. {H} tried to say it too. It came out wrong, and they both had to laugh.'],
 ['By winter {F} knew so many words that the teacher had to say, "{Fn}, now let the others speak."', 'Then {F} showed them a new game with five stones, and soon the whole school was playing it.'],
 ['"What was the hardest?" {H} asked {F him} once. "The first day," said {F}. "And the easiest was the cat in the sand."', 'Since then nobody at that school has sat alone on the wall. There is always somebody who moves over.'])

pair('human', {'O': 'teacher', 'F': 'human'}, 'truth',
 ['There was a test in sums, and {H} had not practised. {F^}, who sat in front, wrote one number after another.', 'The teacher asked everyone to bring a story. {H} had forgotten, so {H he} copied one out of {H his} [sister\'s|cousin\'s] notebook.'],
 ['{H} stretched {H his} neck, just a little, and wrote down what {H he} saw.', '"What a fine story!" said the teacher. "I will read it to the whole school."'],
 ['"Ten out of ten," said the teacher. "I am proud of you." {H} wanted to be glad, but it did not work.', 'Everyone clapped. {H} clapped too, with hands that felt like wood.'],
 ['At supper {H} pushed {H his} plate away. "[Are you ill?|Does your tooth hurt?]" asked {H his} father. "It hurts somewhere else," said {H}.', 'That night {H} heard the clock strike ten, and eleven, and twelve. Each time it seemed to say: not yours, not yours.'],
 ['In the morning {H he} went to the teacher before the bell rang. "It was not mine," {H he} said. {H His} ears were burning.', '{H He} wrote it on a piece of paper, because {H he} could not say it, and laid the paper on the teacher\'s desk.'],
 ['The teacher took a red pencil, crossed something out, and wrote something new. "For the sums, two," she said. "For courage, ten."', '"Then you owe me a story," said the teacher. {H} went home and wrote one about somebody who could not sleep. It was very good, and it was all {H his} own.'])

pair('human', {'F': 'animal', 'O': 'teacher'}, 'friend',
 ['{T} {Fa} followed {H} to school. {H} said, "Go home!" three times, but {F} only [looked the other way|wagged {F himself} from head to tail].', 'On the day when everyone could bring an animal to school, {H} had none. So {H he} brought {Fa}, whom {H he} had met on the way.'],
 ['In the reading lesson {F} sat under the bench and was as quiet as chalk. In the singing lesson {F} was not quiet at all.', '"And what can yours do?" asked the others. One had a dog that could give its paw, and one had a bird that could say its name. "{F^} can [listen|eat anything]," said {H}.'],
 ['"Who is making that noise?" asked the teacher. Nobody answered, but twenty children looked under one bench.', 'They all laughed. But then the big dog began to bark, and the bird screamed, and the rabbits ran under the stove.'],
 ['"Out," said the teacher. Then she looked again. "Or no. Wait. We have mice in the cupboard and a stove that smokes. Can {F he} be useful?"', 'Only {F} did not move. {F He} looked around with calm eyes, and one by one the animals came and lay down beside {F him}.'],
 ['{F^} could. By Friday {F he} had a place of {F his} own on the shelf, with {F his} name on a card.', '"That is worth more than giving a paw," said the teacher, and gave {F him} the first prize, which was a carrot.'],
 ['And in the list of the class, at the very end, you could read: {F}. Reading, good. Singing, loud.', 'On the way home they shared the prize. "Will you come tomorrow too?" asked {H}. {F^} thought it over and nodded.'])

pair('human', {'U': ['grandmother', 'clockmaker', 'carpenter', 'weaver', 'potter']}, 'patience',
 ['{H} wanted to learn the trade of {Ua}. "Good," said {U}. "Then [look|sit down and watch]."', '{T} {H} said to {U}, "Show me how you do it. I want to be able to do it by tomorrow."'],
 ['{H} looked for one day. {H He} looked for two days. "When may I begin?" {H he} asked. "When you have seen something," said {U}.', '{U^} laughed and gave {H him} a lump of the very worst stuff. "Spoil this first," said {U}. "Everyone has to spoil a hundred before the first good one."'],
 ['"I see your hands," said {H}. "Look again." "I see that they never hurry." "Now you have seen something," said {U}.', '{H} spoiled one, and another. {H He} counted them. At thirty {H he} wanted to stop. At sixty {H he} forgot to count.'],
 ['So {H} began. [It came out crooked.|It fell apart.] {H He} waited to be scolded, but {U} only said, "Again."', 'The days grew short and long again. {H} hardly noticed how {H his} fingers learned to think by themselves.'],
 ['A year went by. {H} could not say when it had become easy.', 'One morning there was one on the table that was not spoiled. {H} turned it this way and that and looked for the fault.'],
 ['"Now look at mine and look at yours," said {U}. "Which is which?" And {H} could not tell.', '"How many was that?" asked {U}. "I do not know," said {H}. "I was busy."'])

pair('human', {'F': 'human'}, 'self',
 ['All the others in {H his} class were tall, and {H} was small. In every picture {H he} stood in front, and in every game {H he} was chosen last.', '{H} was the only one in the family with red hair. "Where did you get that?" people asked, as if {H he} had stolen it.'],
 ['{H} tried to grow. {H He} ate two plates of porridge and hung from the door by {H his} hands.', '{H He} tried [flour|a large hat|lemon juice]. It did not help, and it looked odd.'],
 ['"How is the air up there?" {H} asked {F}. "Full of branches," said {F}, who had just walked into one.', '"I wish I had something that people remember," said {F}. "Nobody ever remembers me."'],
 ['Then the ball rolled into [the pipe under the road|a hole in the hedge], and it was the only ball. The tall ones knelt down and stretched their arms. It was no use.', 'That summer the two of them got lost at the great fair. There were a thousand people, and their mothers had no idea where to look.'],
 ['"Let me through," said {H}. In {H he} went, and out {H he} came, with the ball and with a spider on {H his} nose.', '"Have you seen a child with red hair?" asked {H his} mother. "Oh yes," said everybody. "That one you cannot miss. Over there!"'],
 ['After that they chose {H} first. {H He} still stood in front in every picture, but now {H he} grinned.', '"You see," said {F}. And {H} threw the hat away.'])

pair('human', {'F': 'human', 'O': 'teacher'}, 'try',
 ['At the school fair there was a race on [stilts|one leg|three wheels]. {H} had never done it before, and {H he} had one week.', '{H} wanted to learn to [swim|skate|ride a bicycle|juggle three apples] before the summer was over.'],
 ['On Monday {H he} fell into the hedge. On Tuesday {H he} fell out of the hedge on the other side.', '"It is easy," said {F}. "You just do it." That was no help at all.'],
 ['On Wednesday it rained, and {H he} fell [into a puddle|more softly].', 'So {H} made a plan and hung it on the wall. First day: be afraid. Second day: be a little less afraid. Third day: begin.'],
 ['On Thursday {F} held {H him} by the shirt. On Friday {F} let go and did not tell {H him}.', 'The third day came and went, and the fourth, and on the fifth {H he} [managed it for three breaths|got as far as the fence].'],
 ['"Are you still holding me?" called {H}. "No," called {F} from far behind. {H} was so surprised that {H he} did not fall at all.', '"Did you see that?" shouted {H}. Nobody had seen it except a cow. But a cow is better than nobody.'],
 ['{H} came in last, with leaves in {H his} hair, and {H he} waved to everyone as if {H he} had won.', 'By the end of the summer the plan on the wall had only one line left: show others how.'])

pair('human', {'F': 'human', 'O': 'teacher'}, 'work',
 ['The school had a garden, and in the garden everyone had a bed. {H} sowed [radishes|sunflowers|beans], and {F} sowed nothing, because {F he} had no time.', '"Every one of you will look after something this year," said the teacher. {H} got the [stove|rain barrel|lame hen], and {F} got the bell.'],
 ['Each morning {H} pulled out weeds. {F^} lay on the bench. "They grow by themselves," said {F}.', 'The bell was fine work: you rang it, and everyone looked at you. Nobody looked at {H}.'],
 ['In {F his} bed the weeds grew by themselves, that was true.', '"Shall we trade?" asked {H}. "Never," said {F}.'],
 ['In June {H} pulled up the first one, [as red as a nose|taller than the teacher|with the earth still on it]. The whole class stood around.', 'Then came the cold time. Every morning {H} was there before it was light, and when the others came in with blue fingers, it was all done.'],
 ['"You may have half of mine," said {H} to {F}, "but tomorrow you will bring a hoe."', '"Who did this?" they asked, and held out their hands to the warmth. {H} went red. "Somebody has to," {H he} said.'],
 ['And {F} brought one. It was rusty, but by the holidays it shone.', 'At the end of the year the teacher gave no prizes. But the whole class got up when {H} came in, and {F} rang the bell.'])
