"""Night, dreams, the moon and the stars."""
from plots import pair

pair('human', {'M': 'mother', 'F': 'animal'}, 'patience',
 ['{H} could not fall asleep. {H He} had counted the sheep, but one of them would not jump.', '"I am not tired," said {H} and yawned.'],
 ['"What is the matter?" asked {H}. "I do not want to," said the sheep. "I jump here every night. I should like to be counted standing for once."', '{H} wanted to stay awake until midnight, to see where the day goes. {H He} put {H his} feet in cold water and ate a raw onion.'],
 ['So {H} counted it standing. But then the others wanted that too. They stood all around the bed and breathed.', 'At nine there was still some day left behind the stove. At ten it had become very small.'],
 ['"Somebody is chewing my blanket," said {H}. "Sorry," said somebody.', '{Fa^} on the rug lifted its head. "It goes under the door," it said. "If you lie down flat, you can see it best."'],
 ['"Then let us do it the other way around," said the sheep. "You jump, and we count."', '{H} lay down flat. One could see the crack, and a little light in it, and then the light was longer, and had a color.'],
 ['{H} jumped over the fence once, and a second time. "Two," said the sheep, and its head sank down. Nobody got as far as three.', '"That is not the day," said {H his} mother. "That is the next one." And {H} had seen it come, which is even more rare.'])

pair(None, {'F': 'fly', 'G': 'animal'}, 'kind',
 ['The moon had a stain. "I noticed it yesterday," said {H}. "Somebody ought to wash it."', '{T} the moon was lying in the pond. {H} saw it at once. "It has fallen in!" {H he} cried.'],
 ['{H} took soap and a brush and climbed up the highest hill. It was not high enough.', '"Get a net!" said {G}. "Get a rope!" said {F}. They fished for it half the night and only broke it into pieces.'],
 ['"I could take you a bit of the way," said {F}. So they flew, and the bucket hung between them and slopped.', 'Each time they stopped, it put itself together again. "It is alive," whispered {H}.'],
 ['Up there it was cold, and it smelled of stone. {H} scrubbed. The stain did not come off, but the moon giggled.', '"Perhaps it is only bathing," said {G} after a while. They thought about that.'],
 ['"That is my birthmark," said the moon. "But you may go on. Nobody has scratched me there since the world began."', 'So they turned around, to be polite. And when they turned around, they all looked up, and there it hung, clean and dry.'],
 ['{H} scratched for a while longer. When {H he} looked up from the bed the next night, the moon had a bit of foam on its chin.', '"It was quick," said {F}. They went home on tiptoe.'])

pair('human', {'F': 'small', 'G': ['grandmother', 'old man', 'aunt']}, 'wonder',
 ['In the house of {G} there was a clock that struck thirteen. "What is that hour for?" asked {H}. "I always sleep through it," said {G}.', 'At night, when {H} was in bed, {H his} toys talked, but never about {H him}.'],
 ['{H} did not sleep through it. At twelve {H he} sat up. At thirteen the pictures got down from the wall and stretched.', '{H} held {H his} breath. "Who has my other button?" said the bear. "It is under the wardrobe," said the tin soldier, "where the dark lives."'],
 ['The lady in the gold frame asked for a chair. "I have been standing since 1790," she said. {Fa^} came out of the wall with a tray.', '"Somebody should get it," said the bear. They all looked at the one with the wheels. "I squeak," he said.'],
 ['They danced, they ate {foods}, and they complained about the dust. {H} danced with an admiral who came only up to {H his} belt.', 'So they went together, very slowly, and behind them went {H}, in {H his} socks. Under the wardrobe {F} was sitting on the button like a throne.'],
 ['"Quick!" somebody cried. "It is nearly over!" They climbed back into their frames. Only the lady had lost her fan.', '"I thought it was the moon," said {F}. "I have been so happy." The bear scratched his ear. "Keep it," said the bear. "I can hold it shut with my paw."'],
 ['In the morning {G} was standing before the picture. "How odd," said {G}. "I could have sworn that she was holding something." {H} gave it back that night.', 'In the morning {H} sewed on a new one, in {color}. "I did not say anything," {H he} said. But the bear looked at {H him} all day long.'])

pair('human', {'F': 'animal', 'O': ['old woman', 'old man', 'lamplighter']}, 'work',
 ['Every evening {O} lit the stars, one after another, with a long pole. {T} {O he} said to {H}, "My arm is lame. Can you reach that high?"', '{O^} lit the lamps in the town, sixty of them, and {H} was allowed to carry the oil.'],
 ['{H} stood on the roof and on a chair, and {H he} could just do it. It made a sound like a glass when you touch it softly.', 'At each lamp {O} had a word to say. "This one is for the doctor," {O he} said. "And this one is for the man who writes poems."'],
 ['There were so many that {H} mixed up a few. {H He} put one too many in the Wagon, and one too few in the Bear.', 'The last lamp was far out, at the end of the last street, where nobody lived any more. "What is that one for?" asked {H}.'],
 ['{Fa^} sat on the chimney and called out, "More to the left! There is a hole over the church!"', '"I do not know," said {O}. "My father lit it, and so did his."'],
 ['When it was done, they sat on the ridge and looked. It was a bit crooked. "It is very fine," said {O}. "I never thought of putting one there."', '{T} it was storming, and {O} said, "Leave the last one today." But {H} had a feeling and went, with the lantern under {H his} coat.'],
 ['In the town nobody noticed. Only a sailor far out at sea looked up twice, laughed, and steered by the new one.', 'When it burned, someone came out of the dark, a child with a dog and a bundle. "I saw a light," said the child. So now they knew what it was for.'])

pair('animal', {'F': 'animal', 'G': 'fly'}, 'friend',
 ['{H} only woke up when the others went to bed. {H He} had heard that there was something called noon.', '{H} was afraid of the day, because it was so loud and so bright. {F^} was afraid of the night.'],
 ['"What is it like?" {H he} asked {F}, who was just brushing {F his} teeth. "Yellow," said {F}, and was asleep.', 'They met only in the evening, when {F} was nearly in bed and {H} was nearly up.'],
 ['{H} tied {H himself} to a branch, so as not to fall down, and stayed up. The sun rose. It was enormous.', '"What did you see today?" asked {H}. "A wedding," said {F}, "and two cats. And what did you see last night?" "A star that fell, and the same two cats."'],
 ['At nine {H his} eyes watered. At ten {H he} saw two of everything. "Is it noon now?" {H he} asked. "Not by a long way," said {G}.', 'In this way each of them had a whole day, all around. There was nothing in the wood that the two of them did not know.'],
 ['At eleven {H he} fell asleep, and the rope held. When {H he} woke up, it was dark. "You were there!" cried {F}. "You had your mouth open, but you were there."', '{T} there was an eclipse. At noon it grew dark, and {H} came out and rubbed {H his} eyes. There stood {F}, trembling.'],
 ['And {F} had drawn it for {H him}: a round yellow thing, and below it, on a branch, a small dark one, with a rope.', '"It is only night," said {H}, and took {F him} by the paw. And when it grew bright again, {F} said, "It is only day." They had seven minutes. It was a long visit.'])

pair('human', {'M': 'mother', 'F': 'animal'}, 'brave',
 ['{H} always had the same dream. {H He} was walking down a long hall, and behind the last door something was breathing.', 'There was a monster under the bed of {H}. {H He} had never seen it, but {H he} had heard it sneeze.'],
 ['Each time {H he} woke up before {H he} was there. "What is behind it?" asked {H his} mother. "That is just it," said {H}.', '"Monsters do not sneeze," said {H his} father. "This one does," said {H}. "It is dusty down there."'],
 ['"Take something along," said {H his} mother. So {H} went to sleep with {aobj} in {H his} hand, and in the dream it was there.', 'The next evening {H he} put a handkerchief on the floor. In the morning it was gone.'],
 ['{H He} walked down the hall. The carpet was {color}, and it was the first time that {H he} had noticed it.', '{H He} put down {food1}. In the morning there was a crumb, and a drawing of a {food} with a heart around it.'],
 ['At the last door {H} knocked. "Who is there?" called a voice. It sounded frightened. "It is only me," said {H}. "Thank goodness," said the voice. "I thought you were the one in the hall."', '"Would you like to come out?" asked {H} into the dark. It was quiet for a long time. "Is there anything in the bed?" asked a thin voice. "Only me," said {H}.'],
 ['Behind the door {Fa} was sitting on a trunk. They played cards until it was morning. {H} has not had that dream again, and {H he} is rather sorry.', 'Since then it has slept at the foot end. It is warm, and it does not kick. But it snores.'])

pair('animal', {'F': 'animal', 'G': 'animal'}, 'try',
 ['{H} wanted to give {F} a star. {F^} had once said that they were pretty.', 'There was a hole in the night, and through it a draft came. "We shall all catch cold," said {H}.'],
 ['{H He} put one ladder on the other. {H He} jumped from the highest tree. {H He} called up to them and asked politely.', '"Somebody must sew it up," said {F}. They looked at {H}, who could sew.'],
 ['At last {H he} sat down by the pond, and {H he} was sad. The stars lay in the water, and none of them could be lifted out.', '{H} took the longest needle and a ball of {color} thread. {G^} held the ladder, and {F} held {G}.'],
 ['Then something small and green lit up in the grass, and went out, and lit up again. "Are you one?" asked {H}. "I do not think so," it said. "But I could do it for an evening."', 'It was hard to find the edges, because it was so dark. {H} pricked {H his} finger twice. A drop fell into the sky, and it has been there ever since, a small red one.'],
 ['{H} carried it to {F} in both hands. "Oh," said {F}, "it is warm. The ones up there look so cold."', '"Is it holding?" called {G}. {H} bit off the thread. The draft had stopped, and it smelled of hay again.'],
 ['When it was time, they let it fly. It drew a line through the dark, all the way home, and that belonged to the two of them.', 'If you look very closely, you can see the seam. It goes right across, from one hill to the other, and it glitters a little.'])
