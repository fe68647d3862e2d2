"""Journeys, losing and finding."""
from plots import pair

pair('human', {'F': 'animal', 'G': ['grandmother', 'uncle', 'aunt']}, 'brave',
 ['{H} was to travel alone for the first time, to {H his} {Gk} on the other side of the mountains. There was a label on {H his} coat, so that {H he} would not get lost.', '"You are old enough," they said, and put {H} into the coach with a basket, an umbrella, and much good advice.'],
 ['"Do not lean out," said {H his} mother. "Do not lose the ticket," said {H his} father. "Do not forget us," said {H his} little brother.', 'Opposite sat a man with a cello, a woman with a goose, and {Fa} that did not belong to anyone.'],
 ['The hills went by like slow animals. {H} ate everything in the basket before the second stop.', 'At first nobody spoke. Then the wheel broke, and they all had to get out, and after that everybody spoke.'],
 ['At the fourth stop {H he} got out to look, just for a moment, and the door shut behind {H him}. There it went, with the umbrella.', 'It got dark. The man played the cello, the goose laid an egg, and {H} shared {H his} {foods}, one for each.'],
 ['{H} sat down on a bench and did not cry. "The next one goes at six," said {Fa} that was sitting there too. "It is the better one. It has a dog."', '"Where are you going?" asked the woman. "To my {Gk}," said {H}. "I have never been there." "Then it is still before you," said the woman. "How nice."'],
 ['When {H he} arrived, {G} was standing there with the umbrella. "This came first," said {G}. "I thought that you could not be far behind."', 'At the end {H} knew all the stops by heart. "Were you afraid?" asked {G}. "I had no time," said {H}.'])

pair(None, {'F': None}, 'friend',
 ['{H} and {F} had a wagon, and they wanted to drive to the end of the road. "Where does it end?" asked {F}. "We shall see when we are there," said {H}.', '{T} {H} and {F} set out to see the {place2}. They had been told that it was not far.'],
 ['They took {food1}, a pot, and a lamp. On the first day they came as far as the {place}.', 'It was not far, and then it was not far again. "The people here have long legs," said {F}.'],
 ['On the second day the road forked. They threw a coin. It rolled into the grass, and they never found out.', 'They asked a man which way to go. "Straight on," said the man, "but not too much."'],
 ['On the third day they met someone who was coming the other way. "Is it far to the end of the road?" they asked. "I have just come from there," he said. "It begins at a {color} gate."', 'Toward evening they sat down on a milestone. "I can go no farther," said {F}. "Then we have arrived," said {H}.'],
 ['{H} and {F} looked at each other. At home they had a {color} gate.', 'They made a fire, and they ate the {foods}. The stars came out, more than they had ever seen at home.'],
 ['"Then we live at the end," said {F}. "Or at the beginning," said {H}. They turned the wagon around and went to look at it.', 'In the morning they saw that the {place2} had been just behind the next bush. It was very nice. But the milestone had been nicer.'])

pair('human', {'O': ['old man', 'old woman', 'shepherd'], 'F': 'animal'}, 'kind',
 ['{T} {H} found a dog\'s collar without a dog. There was a name on it that nobody knew.', '{H} came upon a purse on the bridge. There was money in it, and a small {obj} made of tin.'],
 ['{H He} asked at the inn, and {H he} asked at the forge. "We have no dog of that name," they said.', '"Finders keepers," said a boy who had seen it. {H} weighed it in {H his} hand.'],
 ['So {H} walked from village to village and called the name over every fence.', 'With so much money one could buy {aobj}, and {foods} for a year. But the {obj} of tin was worn quite smooth, as if someone had held it often.'],
 ['On the fourth day something answered. It was {Fa}, thin and shy, who sat beside a ruined hut and would not come away.', '{H} sat down on the railing and waited. People came over the bridge who were in a hurry, and people who were not. None of them was looking for anything.'],
 ['"{F^} is waiting for {O}," said a neighbor, "and {O} is in the hospital in the town." {H} took {F} under the arm. It was a long road, and {F} was not light.', 'Late in the evening came {Oa} with a lantern, step by step, and shone it into every crack. "Is it this?" asked {H}.'],
 ['The nurse said that animals were not allowed. Then {O} said one word, a quite soft one, and {F} was already on the bed.', '{O^} did not count the money. {O He} took out the small {obj} and shut {O his} hand around it. "I had it from my son," {O he} said. "Come, I will take you home."'])

pair('human', {'F': 'animal', 'M': 'mother'}, 'home',
 ['{H} was tired of being told what to do. {H He} packed a bag and moved out, as far as the end of the garden.', '"I am going to run away," said {H}. "Have you got your scarf?" asked {H his} mother.'],
 ['{H He} built a tent out of the {color} tablecloth. "Here," said {H}, "nobody has to wash."', '{H} took {food1} and went out of the gate. {H He} went once around the church, so as to be really gone.'],
 ['{Fa^} moved in too. {F^} did not think much of washing either.', 'There sat {Fa} who had run away as well. "Why did you?" asked {F}. "I have forgotten," said {H}.'],
 ['For supper there were {foods}, and for pudding there were {foods}. It was splendid. Then it grew dark, and something rustled.', 'They ate the {food}. It was good, but it was soon over. There was no second helping out here, and no one to ask for one.'],
 ['"It is only the wind," said {F} in a very small voice. Over there in the house someone lit the lamp and put it in the window. Nobody called.', '"What do you think they are doing now?" asked {F}. "They are looking for me everywhere," said {H}. "They are crying." {H He} had to swallow.'],
 ['{H} looked at it for a while. Then {H he} rolled up the tent. "They are afraid without me," said {H}, and went in.', 'When {H he} came in, {H his} mother was stirring the soup. "Are you back already?" she asked. "I only forgot my mittens," said {H}, and stayed.'])

pair('animal', {'F': 'animal', 'G': 'animal'}, 'kind',
 ['{H} woke up and did not know who {H he} was. There was a bump on {H his} head, and there was an apple beside {H him}.', '{H} found a lost {Fk} that could only say one word, and the word was blue.'],
 ['"Am I a king?" {H he} asked {F}. "I do not think so," said {F}. "Kings have no burrs in their fur."', '"Where do you live?" "Blue." "Who is your mother?" "Blue." "Are you hungry?" "Blue!"'],
 ['"Am I a robber?" {H he} asked {G}. "Steal something," said {G}. {H} took a nut, and was sorry, and gave it back. "No," said {G}.', '{H} took {F him} to the blue gate. It was not there. They went to the blue barn, and to the man with the blue coat.'],
 ['"Can I sing?" {H} tried it. It was not that either. "Can I swim?" It was certainly not that.', 'In the evening they had seen everything blue there was. {F^} was tired and hung {F his} head.'],
 ['Then a little one fell into the ditch and cried. {H} was down there before anyone else had moved, and pulled it out, and wiped its nose.', 'Then the sun went down, the shadows came, and the hills far away were blue. {F^} began to run.'],
 ['"Now we know who you are," said {F}. "You are the one who does that." And {H} thought that this was good enough.', 'Behind the third hill stood {Fa}, a big one, who had called until {F his} voice was gone. They did not say a single word.'])

pair('human', {'F': 'human', 'O': ['old man', 'old woman', 'sailor']}, 'wonder',
 ['"What is the farthest you have ever been?" {H} asked {O}. "As far as the {place}," said {O}, "but I went there four thousand times."', '{O^} had been around the world, and {H} had been to the {place}. They met on the bench every evening.'],
 ['{H} wanted to see strange lands. {H He} learned the names of them by heart and said them in bed.', '"Tell me about the elephants," said {H}. {O} told {H him}. "And now you," said {O}. "I have nothing to tell," said {H}.'],
 ['"Come with me once," said {O}. They walked slowly. {O} stopped at a stone: "Here I found a {obj}." {O He} stopped at a tree: "Here I was kissed."', '"What did you have for dinner?" "{foods^}," said {H}. "There was one that looked like the mayor." {O} laughed until {O he} coughed.'],
 ['At every turn there was something. {H} had walked there a hundred times and had seen nothing at all.', 'So {H} began to look around during the day, to have something for the evening. There was a dog that went to church. There was a window that was never dark.'],
 ['"The world is very large here," said {H} in the evening, and {H his} legs were tired.', '"You travel a great deal," said {O}.'],
 ['When {H} was grown up, {H he} did see strange lands. {H He} went slowly through them and stopped at every stone.', 'When {O} could not come to the bench any more, {H} went to {O him} and brought the whole street along.'])

pair('human', {'F': 'human', 'M': 'mother'}, 'listen',
 ['At the fair {H} let go of {H his} mother\'s hand, because there was a [bear on a ball|man who ate fire|wheel as high as a house].', '{H} and {F} were in the big wood, and each of them thought that the other knew the way.'],
 ['When {H he} turned around again, there were only coats. None of them was the right one.', '"Which way?" asked {F}. "I was following you," said {H}. It was very quiet after that.'],
 ['{H} ran to the left. Then {H he} ran to the right. Then {H he} remembered: "If you are lost, stay where you are."', 'They went straight on, and after an hour they came to a tree with a {color} ribbon. After another hour they came to it again.'],
 ['So {H} stood still. It is hard to stand still when everything is turning. {H He} counted the lamps. {H He} said {H his} own name, to hear something that {H he} knew.', '"Let us be quiet," said {H}. They sat down under it. First they heard their hearts, then they heard the leaves, and then, very thin, a bell.'],
 ['A woman with a tray of {foods} stopped. "Are you waiting for somebody?" she asked. "For my mother," said {H}. "She will come here. I am here." And the woman waited too.', 'They walked toward it, and when they lost it, they stood still until they had it again.'],
 ['And there she came, with her hat askew and both arms out. "You stayed where you were!" she said. "It was the longest thing I ever did," said {H}.', 'It was a cow. She looked at them and went home, and they went behind her, and her home was next to theirs.'])

pair('human', {'F': 'fly', 'O': ['traveler', 'peddler', 'merchant']}, 'greed',
 ['There were two roads to the town, a short one and a good one. {H} was in a hurry.', '{Oa^} told {H} of a valley where gold lay about like gravel. "I have seen it with my own eyes," said {O}.'],
 ['"Take the good one," said {Fa} on the signpost. "It is longer, but you arrive sooner." {H} laughed and took the short one.', '{H} sold {H his} hens and bought a shovel. "And who will feed me?" asked {Fa} that lived in the yard.'],
 ['It went well as far as the marsh. There {H he} lost one shoe.', '{H He} walked for a month. Where the valley ought to have been there was another one, and then another.'],
 ['Then came the thorns, and there {H he} lost {H his} hat. Then came a wall, and {H he} had to go around it.', 'At last {H he} came to a place where everything was yellow and shone in the evening light. {H} fell on {H his} knees. It was broom in bloom.'],
 ['When {H} came to the town, it was night, and the gate was shut. On the gatepost sat {F}. "I walked," said {F}, "because it was so nice."', '{H} sat there a while. It was beautiful, one had to admit it. {H He} broke off a branch and went home.'],
 ['The next time {H} took the good one. There was a bench on it, and a well, and he who goes slowly finds things.', '"Did you find it?" asked {F}. "Yes," said {H}, and put the branch in a jug. "It does not keep." And {H he} bought a hen on credit.'])

pair('human', {'F': 'animal', 'K': ['king', 'queen']}, 'self',
 ['A messenger came to the village with a list. On it was the name of {H}. "{K^} wants to see you," he said. "{K^} did not say why."', '{K^} and {H} looked so much alike that the dogs mixed them up, or would have, if they had ever met.'],
 ['{H} thought it over all the way. Was it because of the {obj}? Was it because of the pears?', '{T} they did meet, at the fence of the royal park. "You have my face," said {K}. "I had it first," said {H}.'],
 ['{H He} was led through nine doors. With each of them {H he} grew smaller, and so did {Fa} that had come along.', 'They changed clothes, for one day. {H} sat on the throne, and {K} went to milk the cow.'],
 ['"There you are," said {K}. "I have heard that you make the best {foods} in the land." {H} had never made any.', '"What is your wish?" they asked {H}. "{foods^}," said {H}. They came at once, but first they had to be carried once around the hall, and then they were cold.'],
 ['{H} opened {H his} mouth to say yes. "No," said {H}. "That must be my neighbor. We have the same name." It was very still.', '{K^} was kicked by the cow and praised by the neighbor, both for the first time.'],
 ['"You are the first one today who did not say yes," said {K}. "Stay for supper." And they sent another messenger, and waited for him together.', 'In the evening they changed back, and neither of them said which was better. But they still wave to each other over the fence.'])
