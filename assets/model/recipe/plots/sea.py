"""The sea, rivers, boats and shores."""
from plots import pair

pair('human', {'O': ['old man', 'old woman', 'sailor'], 'F': 'fly'}, 'work',
 ['On a rock in the sea stood a lighthouse, and in the lighthouse lived {H} with {Oa} who kept the lamp.', '{H} spent the summer with {Oa} in the lighthouse. There were two hundred and twelve steps, and {H he} counted them every day.'],
 ['"The lamp must never go out," said {O}. "Not for one minute. Somewhere out there somebody is always looking for it."', '"What does the lamp say?" asked {H}. "It says, here is the rock, here is the rock," said {O}. "That is all. But it must say it all night."'],
 ['Then {O} fell on the stairs and could not get up. And outside [a storm was coming|the fog was rolling in like wool].', 'One night {O} had a fever and slept and did not wake, and the wind was rising.'],
 ['{H} carried the oil up the steps, can after can. The wheel that turned the lamp was stuck, so {H he} turned it with {H his} own hands.', 'The wind broke a pane and blew out the flame. {H} held {H his} coat before the hole and lit it again, and again, and again.'],
 ['{H He} turned it until the sky grew grey. {H He} sang so as not to fall asleep, and {Fa} that had come in from the storm sat on the rail and listened.', 'Toward morning {H he} could not feel {H his} arms any more. But the light went round and round.'],
 ['In the morning a fishing boat came to the rock. "[We saw the light|We nearly lost the way]," said the men. "Who kept it?" And {H} could not answer, because {H he} was asleep on the stairs.', '"Seven boats came home last night," said {O}, when {O he} could sit up again. "Every one of them because of you."'])

pair(None, {'F': 'animal'}, 'kind',
 ['{T} {H} found a bottle on the beach. There was a letter in it. "I live on an island," it said, "and I have nobody to talk to. What is the weather like where you are?"', 'A bottle came floating down the river to {H}. In it was a piece of paper with one question: "Is anybody there?"'],
 ['{H} wrote on the back, "{weather} here. Who are you?" and threw the bottle back.', '"Yes," wrote {H}. "I am." {H He} pushed the cork in tight and waited until the water took it.'],
 ['{H He} looked for it every day. [A week passed.|The moon grew thin and fat again.] "It has sunk," said {F}. "It is only slow," said {H}.', '"What if it never comes back?" asked {H}. "Then a whale is reading it," said {F}.'],
 ['Then there it was, green and round and full of sand. "I am an old turtle," said the letter. "I am a hundred and nine. Do you like {foods}?"', 'When it came again, there were two things in it: a letter with small round words, and a {color} shell.'],
 ['So they wrote to each other, all summer and all winter. {H} learned what the whales sing, and the other one learned what [snow is|a button is for].', '{H} told about the {place}, and about {F}, and about what {H he} was afraid of. It is easy to tell such things to a bottle.'],
 ['They have never met. But every evening at six they both look at the sea, and each of them knows it.', 'And one morning there were footprints in the sand, wide and flat, and they led straight to the door.'])

pair('human', {'F': 'animal'}, 'share',
 ['Far out in the bay lay an island that belonged to nobody. {T} {H} rowed over with {food1}, a flag, and {Fa} who had asked politely.', '{H} and {F} found an island in the river. It was just long enough to lie down on.'],
 ['"I shall be the king of this island," said {H}. "And I?" asked {F}. "You shall be the people." "Then I want to speak to the king," said {F}. "I am hungry."', '"This half is mine and that half is yours," said {H}, and drew a line in the sand. "{food1^} for me and the fishing rod for you."'],
 ['{H} made a law that the king ate first. Then {F} made a law that the people went swimming. The king sat alone on the sand and had nobody to rule.', 'For an hour it went well. Then {F} caught a fish, but {F he} had no wood for a fire. The wood lay on the half of {H}.'],
 ['The tide came in. It came over the flag, and it came over the laws.', 'Then the water rose. It took a little of this half and a little of that half, and nobody could see the line any more.'],
 ['They climbed to the highest place and sat back to back. There was room there for two friends, but not for a king and a people.', '"Whose half is this?" asked {F}, when only one stone was left. "Ours," said {H}, and made room.'],
 ['When the tide went out, {H} wrote a new law in the sand: everything for both. It was the only one that lasted.', 'They ate the fish with the {food} and the {food} with the fish, and it was better both ways.'])

pair('human', {'C': 'captain', 'F': 'animal'}, 'clever',
 ['{H} was the ship\'s cook, and the smallest on board. "Peel," said {C}, and {H} peeled.', '{H} had hidden in a barrel because {H he} wanted to see the world. On the third day {C} found {H him}. "Peel potatoes," said {C}.'],
 ['For twelve days there was no wind. The sails hung down like washing, and the water in the barrel sank.', 'In the middle of the sea they met a pirate ship with {color} sails. "Hand over your treasure!" the pirates shouted.'],
 ['"We must row," said one. "We must wait," said another. {Fa^}, who lived in the kitchen, looked at {H} and [sneezed|yawned].', '"We have none," said {C}. "We carry {foods}." "Then we will take those," said the pirates, "and your boots."'],
 ['That gave {H} an idea. There were forty sacks of pepper below.', '"Wait," said {H}. "Have you had your supper?" The pirates looked at each other. They had eaten nothing but fish for a year.'],
 ['{H} told all the sailors to stand behind the biggest sail, and then {H he} opened one sack. Forty men sneezed at the same time, and the ship [gave a jump|flew forward like a bird].', '{H} cooked for them: soup with dumplings, and roast potatoes, and a pudding that shook. One pirate began to cry. "It tastes like home," he said.'],
 ['They sneezed all the way to the harbor. "Who thought of that?" asked {C}. And {H} never had to peel again.', 'The next morning the pirates had turned around. They had all gone home to their mothers, and on the deck lay {aobj} for the cook.'])

pair('human', {'F': 'human'}, 'patience',
 ['{H} and {F} went fishing. {F} caught a fish at once, and then another. {H} caught [a boot|a branch|cold feet].', '"Today I shall catch the big one," said {H}. Everyone by the lake talked about the big one, but nobody had ever seen it.'],
 ['{H} pulled {H his} line out every minute to see. {H He} threw it here, and {H he} threw it there.', '{H He} took the longest rod, and the fattest worm, and {food1}, which {H he} ate on the way.'],
 ['"If you pull up the seed to see whether it grows, it will not grow," said {F}. "I am not planting," said {H}. "No," said {F}, "but you are pulling."', 'The sun climbed up and the sun climbed down. {H} talked, and sang, and threw stones. Not one fish came.'],
 ['So {H} sat still. It was the hardest thing {H he} had ever done. {H His} nose itched.', 'Then {H} had told everything {H he} knew and was quiet, and it became so still that you could hear the water think.'],
 ['A dragonfly sat down on {H his} hand. A deer came and drank on the other side. [The water was full of clouds.|{H} forgot what {H he} had come for.]', 'Something large and dark came up, and two old eyes looked at {H him}. It was as long as a door.'],
 ['And when something did pull at the line, {H} was almost sorry. "Go home," {H he} said, and let it swim.', 'They looked at each other. Then it sank again without a sound. "Did you catch it?" asked {F} in the evening. "No," said {H}. "But I have met it."'])

pair('human', {'O': ['ferryman', 'old man', 'old woman'], 'F': 'animal'}, 'kind',
 ['{O^} rowed people across the river, and {H} helped {O him} with the rope. It cost one coin to cross.', 'Where the river was widest, {H} had a raft. "One {food} to cross," said the sign, for {H} was often hungry.'],
 ['{T} {Fa} stood on the bank. "I have no coin," said {F}, "but my children are on the other side."', '{T} it was raining, and {Fa} came to the water with nothing in its hands.'],
 ['"No coin, no crossing," said {O}. "That is the rule." {H} felt in {H his} pocket. There was one coin, and it had been meant for {foods}.', '"I cannot pay," said {F}. {H} looked at the sign. Then {H he} turned it around, and the other side was blank.'],
 ['{H} laid it in the bowl. "Somebody has paid," {H he} said, and looked up at the sky.', '"Today it is free," said {H}. "Today is the day of rain." They went over, and on the way {F} told {H him} a story, and it was a long one.'],
 ['That night the rope broke, and the boat went off by itself toward the sea. {O^} ran along the bank and shouted.', 'That autumn the flood tore the raft away, with {H} on it. It spun around like a leaf.'],
 ['Then {F} came with all {F his} family, and they held the rope in their teeth until the morning. Since then there has been a second rule: if you have no coin, tell us a story.', 'But {F} heard the cry. {F He} knew every stone in that river, and {F he} called, "Left! Now right! Now jump!" And {H} jumped, and was safe.'])

pair('animal', {'F': 'animal', 'G': 'fly'}, 'brave',
 ['{H} lived by the sea and had never been in it. "What if there is something down there?" {H he} said.', 'All the others swam out to the rock. {H} stayed on the sand and said that {H he} [had a cold|was just looking after the towels].'],
 ['"There is," said {Ga} who was sitting on a post. "There is water."', '"Are you coming?" called {F}. "Later," called {H}. {H He} had said that yesterday too.'],
 ['{T} {H} put in one toe. It was cold. {H He} took it out and looked at it. It was still there.', '"The sea is only a very big puddle," said {F}. {H} liked puddles. {H He} thought it over.'],
 ['The next day {H he} put in two. On Thursday {H he} was in up to the knees and did not notice, because {H he} was looking for a {color} shell.', 'Then a wave came that was bigger than the others. It picked up {H}, turned {H him} once around, and put {H him} down again on the sand.'],
 ['On Friday {F} slipped off the rock and called for help. {H} ran, and {H he} was swimming before {H he} had time to be afraid.', '{H} sat there with seaweed on {H his} head. "Again!" {H he} cried.'],
 ['"I thought you could not swim," said {F}. "So did I," said {H}.', 'Now nobody can get {H him} out, not even for supper.'])

pair('human', {'S': ['fairy', 'old woman'], 'F': 'fly'}, 'promise',
 ['A fisherman\'s child named {Hn} once caught a fish with a golden fin. "Let me go," said the fish, "and I will come when you call. But call me only in need."', '{H} found a shell that was as big as {H his} head. When {H he} held it to {H his} ear, a voice said, "I can grant one wish. When will you use it?"'],
 ['{H} let it go. That same evening {H he} wanted to call it, to see whether it was true. But {H he} had promised.', '"Not today," said {H}. Every evening the shell asked again, and every evening {H} said, "Not today."'],
 ['{H He} wanted to call it when the [boat leaked|net tore], and {H he} mended that {H himself}. {H He} wanted to call it when {H he} was cold, and {H he} chopped some wood.', '{H} could have wished for new shoes, but then winter passed. {H He} could have wished for a better fiddle, but then {H he} learned to play on the old one.'],
 ['Years went by. {H} could do almost everything by now.', '"You will die rich in wishes," said {Fa} on the roof.'],
 ['Then one night the sea came over the wall and into the streets. "Now," said {H}. {H He} stood in the water and called.', 'Then the little ones of the neighbor were out in a boat, and the storm came. {H} ran for the shell. "Today," {H he} said.'],
 ['And the sea lay down like a dog. "You waited long," said a voice. "I hardly needed you," said {H}. "But now I did. Thank you."', 'The wind stopped as if someone had shut a door. The shell was only a shell after that. {H} put it on the window, and it still sounds like the sea.'])
