"""Friendship, families and neighbors."""
from plots import pair

pair(None, {'F': None}, 'friend',
 ['{F^} was going to move away. The cart was already packed, and there was a chair on top of it with its legs in the air.', '"We are moving," said {F}. "Far?" asked {H}. "You cannot see it from here," said {F}.'],
 ['{H} did not want to say good-bye. {H He} hid [behind the barn|under the stairs] and counted to a thousand.', 'They made a list of everything that they still wanted to do. It was so long that they had no time for any of it.'],
 ['At six hundred {F} found {H him}. "You are bad at hiding," said {F}. "You are good at finding," said {H}.', '"We will never see each other again," said {H}. "Never is very long," said {F}. "Let us say: not on Thursday."'],
 ['They cut a {color} ribbon in two, and each took one half.', 'Then {F} gave {H} {F his} half of the treasure, and {H} gave {F} the map.'],
 ['After that it was quiet by the {place}. {H} sat on the fence, and the other half of the fence was empty.', 'The first week was the longest one that {H} had ever seen.'],
 ['But one day a letter came, with a smudge on it and a ribbon in it. "You have to come," it said. "There is a much better place for hiding here."', 'Then, on Thursday, there was a knock. "It was not far at all," said {F}. "I only had to walk until I was here."'])

pair(None, {'F': None, 'G': 'animal'}, 'friend',
 ['{H} and {F} were friends. Then came {Ga}, and {F} went to play with {G}.', '{H} used to walk home with {F}. But now {F} walked with {G}, and they laughed about things that {H} did not know.'],
 ['"Three is one too many," thought {H}. {H He} kicked a stone all the way to the {place}.', '{H} walked behind them and looked at their backs. Then {H he} took the other way.'],
 ['"Why do you not come?" called {F}. "I have something better to do," called {H}. {H He} went and did it. It was counting ants.', '{H} made up {H his} mind never to speak to {F} again. {H He} practised it all evening.'],
 ['Then {G} came and sat down. "How many are there?" asked {G}. "Forty-one," said {H}. "Forty-two," said {G}. "There is one on your nose."', 'The next morning {G} stood before the door, all alone. "{F^} is ill," said {G}. "I do not know what makes {F him} laugh. You do."'],
 ['{H} had to laugh, though {H he} did not want to.', 'So they went together. {H} did the face with the crossed eyes, and {F} laughed until the bed squeaked. And {G} laughed too.'],
 ['There are games that only go with three: one turns the rope at this end, one turns the rope at that end, and one jumps.', '"It is odd," thought {H} on the way home. "I had one friend, and I was afraid to lose half of {F him}. And now I have two."'])

pair('human', {'O': ['old woman', 'old man'], 'F': 'human'}, 'friend',
 ['In the last house of the street lived {Oa} of whom all the children were afraid. "{O He} eats balls," they said.', '{T} {H}\'s ball flew over the wall of {Oa} who never smiled.'],
 ['It was true that many balls had gone over that wall, and none had ever come back.', '"Leave it," said {F}. "Nobody has ever gone in there." But it was {H his} only ball.'],
 ['{H} rang. {H His} heart rang louder than the bell. {O^} opened, and {O he} was not much taller than {H}.', '{H} climbed over. On the other side there was no dog and no trap. There was a chair, and in it sat {O}, fast asleep.'],
 ['"At last," said {O}. "I have been waiting for somebody to ask for them. My back is too stiff for throwing." In a big basket lay twenty balls, all washed.', 'On the grass lay the ball, and beside it a plate with {foods}, and a note: "For the one who comes to get it."'],
 ['"Why did you not call us?" asked {H}. "You always ran so fast," said {O}.', '"I write one every day," said {O} and opened one eye. "So far I have always had to eat them myself."'],
 ['Now {O} is the referee. {O He} has a whistle and a cushion, and {O he} is very strict.', 'The next day four balls flew over the wall, one after another. It is possible that somebody had been aiming.'])

pair('human', {'S': ['sister'], 'M': 'mother'}, 'kind',
 ['{H} got a baby sister. Everyone came to see her, and nobody came to see {H}.', '{H} had a little sister who followed {H him} wherever {H he} went. "Go home," {H he} said. "Home," said the little sister, and stayed.'],
 ['She could not do anything. She could not even sit. But when she yawned, they all said, "Oh!"', 'She wanted to have what {H he} had, and do what {H he} did. When {H he} climbed up, she stood below and held up her arms.'],
 ['{H} yawned too. "Put your hand in front of your mouth," they said.', '{T} {H} ran so fast that she could not come after {H him}. It was wonderful for about as long as an apple takes.'],
 ['That night the baby screamed. Her mother sang, and her father walked up and down, and she screamed and screamed.', 'Then it was too quiet. {H} looked around. There was nobody there. "Where are you?" {H he} called. Nobody answered.'],
 ['{H} leaned over the crib. "I know," {H he} said. "It is dark, and you cannot say what you want." {H He} gave her one finger. She held on to it and stopped.', '{H He} found her on the big stone, where {H he} had been the day before. She sat just as {H he} always sat, with her chin in her hands. "I am you," she said.'],
 ['"How did you do that?" whispered {H his} mother. "We talked," said {H}.', '{H} took her on {H his} shoulders. "You are heavy," {H he} said. "Heavy," said the little sister, and was content.'])

pair('human', {'G': ['grandmother', 'old man', 'uncle'], 'F': 'animal'}, 'listen',
 ['{G^} knew one hundred stories, and {H} knew them too. "Tell me the one with the [bear|bridge|blue horse]," said {H}.', '{G^} began to forget things. First {G he} forgot the names of the flowers, and then {G he} forgot where the spoons were.'],
 ['"I told you that one yesterday." "Yesterday it was raining," said {H}. "It is different when it rains."', '"It does not matter," said {H}. "I know where the spoons are." And {H he} hung a little picture on every drawer.'],
 ['So {G} told it. And whenever {G} made a mistake, {H} cried, "No! It was a Tuesday!"', 'Then {G} forgot the stories, the ones that {G he} had told {H him} every night.'],
 ['One winter {G} lost {G his} voice. It was gone for a whole month. The evenings were long, and the clock was loud.', '{H} sat down on the edge of the bed. "Shall I tell you one?" {H he} asked. "Once there was {Fa} who could not sleep."'],
 ['Then {H} began to tell. {H He} told the hundred stories, one after another, and {G} nodded, and sometimes {G} lifted a finger: a Tuesday.', '"And what happened then?" asked {G}. {G He} had told it a thousand times, and now {G he} heard it for the first.'],
 ['On the last evening {H} told one that was new. {G^} had never heard it. "That makes one hundred and one," {G} wrote on a piece of paper.', '"That was beautiful," said {G}. "Who made it up?" "You did," said {H}.'])

pair(None, {'F': 'animal', 'G': 'animal'}, 'friend',
 ['{H} made a birthday party and wrote a card to everyone {H he} knew. Then {H he} baked a cake with [seven|nine] candles.', 'It was the birthday of {H}, and nobody said a word about it. Not {F}, and not {G}.'],
 ['At three nobody came. At four nobody came. {H} moved the chairs a little.', '"What day is it today?" asked {H}. "Wednesday," said {F}, and was in a great hurry.'],
 ['At five {H he} ate one candle, to see what it was like.', '{H} passed the house of {G}. The curtains were shut, and behind them somebody giggled.'],
 ['Then {H he} looked into {H his} bag. There were all the cards. {H He} had forgotten to send them.', '{H} went home and lay down on the floor. "I will just be the same age again," {H he} said to the ceiling.'],
 ['{H} ran from door to door. "Come as you are!" {H he} called. {F^} came in a bath towel, and {G} came with a spoon of soup in one hand.', 'When it was dark, there was a tap on the window. {H} went out. The whole garden was full of little lights.'],
 ['They blew out the candles all together, and it was the only party in the world that began at bedtime.', '"We had to wait until it was dark," said {F}. "You cannot imagine how hard that was," said {G}.'])

pair('human', {'O': ['old man', 'old woman'], 'V': 'animal'}, 'kind',
 ['On the left of {H} lived a man who loved quiet, and on the right lived a woman who loved drums.', 'Two brothers had quarrelled about an apple tree. Since then there was a wall between their houses, and the tree stood on both sides.'],
 ['"Tell her to stop," said the man. "Tell him to start," said the woman. {H} sat in the middle and had a headache.', 'Neither of them picked the apples, because each was afraid to take one of the other\'s. {H}, who brought them the milk, thought it a pity.'],
 ['{H} listened carefully. In the morning she drummed for an hour, and in the evening he read aloud to {Va} in a soft voice.', '"What is he doing over there?" asked the one. "He asks the same about you," said {H}.'],
 ['{T} {H} brought a [cake|chair] to each of them and said that it was from the other. It was not quite a lie, because they had each given {H him} an egg for it once.', '{T} {H} had an idea. {H He} put a note into the milk can of each: "I am sorry about the tree. Your brother."'],
 ['"From him?" said the woman. "From her?" said the man. They came out to say thank you at the very same time.', 'Both came out to the wall. "You wrote it?" "No, you did." They pulled out their notes and looked at them. They were in the same hand, and that hand could not spell.'],
 ['Now he reads aloud, and she drums along, but only at the exciting places.', 'They both turned around and looked at {H}. Then one of them began to laugh, and the other fetched a ladder.'])

pair('animal', {'F': 'animal'}, 'self',
 ['{H} had a shadow that did whatever {H he} did. {H He} did not like it. "Stop copying me," {H he} said.', '{H} did not like {H his} name. "It is too short," {H he} said. "It is over before it has begun."'],
 ['{H He} ran, and it ran. {H He} jumped, and it jumped. {H He} hid behind a tree, and when {H he} looked out, it looked out too.', '"Then take another one," said {F}. {H} tried a long one. But before anyone had finished calling {H him}, the soup was cold.'],
 ['"Leave it here with me," said {F}. But it would not stay. It was fastened at the feet.', '{H He} tried [a grand one|a foreign one]. Nobody knew whom they meant, and {H he} forgot it {H himself}.'],
 ['Then a cloud came, and the shadow was gone. {H} turned around once. {H He} turned around twice. There was nobody there.', 'For three days {H he} had no name at all. "You there," they said, and "Hey." When they shared out the {foods}, they forgot {H him}, because they counted by name.'],
 ['"Where are you?" called {H}. It was strange to walk all alone, with nothing underneath.', 'That evening the fog came down. Far away somebody called something short and clear, again and again. It cut through the fog like a bell.'],
 ['When the sun came out, it lay there in the grass, as long as a tree. "Well, come along," said {H}. And it came.', '"That is me," said {H}, and ran toward it. There stood {F} with a lantern. "With a longer one I should have run out of breath," said {F}.'])
