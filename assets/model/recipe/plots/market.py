"""Markets, shops, trades and bargains."""
from plots import pair

pair('human', {'A': ['peddler', 'merchant', 'traveler'], 'M': 'mother'}, 'clever',
 ['{H}\'s mother sent {H him} to the market to sell the {color} {obj}. "Do not come home without something to eat," she said.', '{T} {H} went to market with a hen under {H his} arm, and {H he} was told to bring back a cow, if it could be done.'],
 ['On the way {Aa} said, "I will give you a whistle for it." A whistle is a fine thing, and {H} took it.', '"That hen for this goose?" asked {Aa}. {H} traded. "That goose for this goat?" asked a boy. {H} traded again.'],
 ['Then {H he} met a boy who wanted the whistle and had a ball, and a girl who wanted the ball and had a kite.', 'But the goat ate the boy\'s hat, and {H} had to give it back. For the hat {H he} gave a promise, and for the promise {H he} got a sack.'],
 ['When {H he} came to the market at last, {H he} had a {color2} kite with a tail of paper. Nobody there had [bread|turnips] to give for a kite.', 'In the sack there were old {objs}. "Oh dear," said {H}.'],
 ['So {H} let it fly. All the children came running, and behind the children came the mothers, and behind the mothers came the baker with his tray. "A bun for one turn," said {H}.', 'But a woman stopped and looked into the sack. "I have been looking for these for years," she cried. "What do you want for them?" "A cow," said {H}, because that was what {H he} had been told.'],
 ['In the evening {H he} came home with a basket full of buns, and with the kite as well. "Did you get a good price?" asked {H his} mother. "I got several," said {H}.', '"How did you do that?" asked {H his} mother, when the cow looked over the fence. "One thing led to another," said {H}.'])

pair('human', {'O': ['baker', 'cook'], 'V': ['merchant', 'miller', 'mayor']}, 'clever',
 ['{H} was hungry and had no money. {H He} stood before the window of {O} and smelled the bread, and that was all {H he} had for dinner.', 'Two neighbors fought about a goose. "It is mine!" said one. "It is mine!" said the other. And they went to {H}, who was only ten, but fair.'],
 ['"You have been smelling my bread for a week," cried {O}. "Now you must pay for it!" And {O he} dragged {H him} before the judge.', '"It came out of my egg," said the first. "It ate my corn," said the second. The goose said nothing.'],
 ['"Is it true that you smelled the bread?" asked the judge. "Yes," said {H}. "It was very good."', '"Then I will cut it in two," said {H}, "and each of you shall have half." "Good!" cried the first one at once. The other one turned pale. "Oh no," he said. "Then let him have it whole."'],
 ['The judge thought for a while. Then he took a coin out of his pocket and let it fall on the table. Cling! "Did you hear that?" he asked {O}.', '"It is yours," said {H} to the one who had turned pale. "Only someone who loves a goose would give it away."'],
 ['"Yes," said {O}, and held out {O his} hand. "Then you are paid," said the judge. "The sound of money for the smell of bread."', 'The goose went home behind him without a string.'],
 ['{O^} had to laugh, and whoever laughs cannot be angry. {H} got a whole loaf to take home.', 'After that people came to {H} with all their quarrels. Most of them {H he} settled with {foods}.'])

pair('human', {'O': ['old woman', 'peddler', 'old man'], 'F': 'human'}, 'wonder',
 ['At the end of the market stood a small stall that {H} had never seen before. "I sell what people have lost," said {O}.', 'On market day there was a stall with nothing on it. Behind it sat {Oa}. "What do you sell?" asked {H}. "[Quiet|Time|Second tries]," said {O}.'],
 ['There lay single gloves, and half a song, and the end of a joke. There lay a [wish|name] that somebody had forgotten.', '"How much is it?" asked {H}. "How much do you need?" asked {O}.'],
 ['"Have you got my {obj}?" asked {H}. {O^} pulled out a drawer. And there it was, with the scratch on its side.', '{H} bought a small bag for a button and a {food}. It weighed nothing at all.'],
 ['"What does it cost?" "Something you have found," said {O}. {H} thought. That morning {H he} had found out that {F} was not angry with {H him} any more.', 'On the way home {H he} met {F}, who was running and crying. {F^} had [broken a plate|come too late for the coach].'],
 ['"I cannot give you that," said {H}. "I need it." "You are right," said {O}. "That is worth more than {aobj}. Then tell me about it, and we are even."', '{H} opened the bag, just a little. Nobody saw anything come out. But {F} stopped crying, took a breath, and said, "I could try it once more."'],
 ['When {H} came back the next day, there was only a wall there, and a cat asleep in the sun.', 'The next week the stall was gone. {H} still keeps the bag. There must be some left at the bottom.'])

pair('human', {'U': ['tailor', 'shoemaker', 'weaver', 'seamstress'], 'K': 'king'}, 'truth',
 ['{U^} had a child named {Hn}, who could sew almost as well as {U}. "Make me a coat that nobody else has," said the king. "In three days."', 'A stranger ordered a coat from {U}. "It must be {color} when I am glad and {color2} when I am sad," he said. "I will come back in a week."'],
 ['{U^} was so afraid that {U he} could not thread the needle. But {Hn} [took the shears.|said, "Let me try."]', '"That cannot be done," said {U}. "It can be done with a lining," said {H}.'],
 ['{H} cut a coat out of everything that lay about: a curtain, a flag, a flour sack, and {H his} own blanket.', '{H} sewed day and night. On the outside it was {color}, and on the inside it was {color2}.'],
 ['"What is that?" asked the king. {H} could have said that it was the newest fashion. "Those are the leftovers," said {H}. "But every piece has kept somebody warm."', 'When the stranger came, he put it on. "It does not change," he said. "You must change it yourself," said {H}, and turned it inside out.'],
 ['The king put his hand in the pocket. It was the pocket of the flour sack, and it was full of crumbs. He tried one.', 'The stranger was silent. "So whether I am glad or sad," he said, "it is the same coat." "Yes," said {H}, "and it is warm both ways."'],
 ['"Nobody else has such a coat," said the king, "and nobody else has told me the truth today." He wore it on Sundays.', 'He paid twice the price. And when {H} saw him again, he was wearing the {color} side.'])

pair(None, {'F': None}, 'work',
 ['{H} and {F} opened a shop under a tree. They sold [lemonade|mud cakes|good advice], and it cost one nut.', 'Nobody in the {place} had a bakery, so {H} and {F} decided to open one.'],
 ['In the morning nobody came. {H} drank a glass {H himself}, to see whether it was good. It was. {F} tried one too.', '{H} mixed, and {F} stirred. {F} measured, and {H} spilled. It was all over the floor, and some of it was in the bowl.'],
 ['"Somebody has to pay for that," said {F}. So {H} gave {F} the nut, and {F} bought another glass with it, and gave {H} the nut.', 'The first buns were as small as peas, and the second ones were as hard as stones. They sold the stones to the mason.'],
 ['By noon business was very good. The nut had been back and forth eleven times, and there was nothing left to sell.', 'Then they found an old book with the word "yeast" in it. They put in a little, and, to be safe, a little more.'],
 ['"We have sold everything," said {H}, "and we have earned one nut." "That is not bad for the first day," said {F}.', 'In the night it rose. It lifted the lid, and opened the oven door, and looked out of the window.'],
 ['They split it in two and ate it.', 'In the morning there was a line in front of the house. "One slice of the house, please," said the first one. And they were sold out before ten.'])

pair('human', {'F': 'animal', 'V': ['merchant', 'farmer', 'peddler']}, 'kind',
 ['At the market {Va} was selling {Fa}. "Too old to be any good," said {V}. "One coin."', '{T} {H} had saved just enough for {aobj}. Then, at the corner of the market, {H he} saw {Fa} on a short rope.'],
 ['{H} had one coin. It was for the [soap|salt]. {F^} looked at {H him} with one eye.', '"What will become of {F him}?" asked {H}. {V^} only shrugged. {H} turned the coins in {H his} pocket over and over.'],
 ['"And what is that?" asked {H his} father, when {H he} came home. "It is not soap," said {H}. That was true.', '{H} counted them out into {V his} hand, one by one, down to the very last.'],
 ['At first {F} only slept. Then {F he} ate. Then {F he} followed {H} wherever {H he} went, slowly, because of {F his} knee.', 'They did not have far to go, but it took them until night, because {F} had to stop and smell everything. {F He} had not smelled a meadow for years.'],
 ['One night {F} made a noise that nobody had thought {F he} could make. They all ran out into the yard. And then they saw the smoke coming from the roof.', 'It turned out that {F} knew the old paths. When {H}\'s little sister did not come home from the wood, it was {F} who went straight up to the right tree.'],
 ['"That was the best soap I ever bought," said {H his} father.', '"Too old to be any good," said {H}, and scratched {F him} behind the ear. "What a good thing that nobody else noticed."'])

pair('human', {'O': ['postman', 'old man', 'old woman'], 'F': 'human'}, 'promise',
 ['{O^} who brought the letters had hurt {O his} leg. "Who will do my round?" {O he} asked. "I will," said {H}.', '{H} found a letter in the ditch. The ink had run, and only half of the name could be read.'],
 ['The bag was as long as {H} was tall. There were forty letters and one parcel that ticked.', '"Throw it away," said {F}. "It is ten years old." "It has been on its way for ten years," said {H}. "I cannot stop it now."'],
 ['One letter made a woman laugh, and one letter made a man sit down on his step. {H} waited until he got up again.', 'They asked at the mill, and they asked at the school. "There was once a girl of that name," said the smith, "but she is a grandmother now."'],
 ['The last letter was for the house on the hill. There was a dog, and there was rain, and then there was hail. "Tomorrow will do as well," thought {H}. But {H he} had said today.', 'She lived on the other side of the mountain. It took them two days. They slept in the hay and ate {foods}.'],
 ['An old man opened. "From my son," he said. "It is my birthday. I thought he had forgotten." He read it three times, and {H} dripped on the carpet.', 'The old woman put on her glasses and read. "He asks if I will dance with him on Sunday," she said. She laughed, and then she wiped her glasses.'],
 ['The parcel that ticked was a clock. It was for {O}, and it was from all of them.', 'On Sunday there was music. The smith had put on a clean shirt. "It was I who wrote it," he said. "I was only too shy to ask whether it had arrived."'])

pair('human', {'C': ['clockmaker', 'old man', 'old woman'], 'F': 'animal'}, 'patience',
 ['In the shop of {C} there were a hundred clocks, and each one showed a different time. "Which one is right?" asked {H}.', 'The clock in the tower stood still, and so everything in the town was late. "Someone has to go up," said the mayor. They sent {H}, because {H he} was thin.'],
 ['"All of them, for somebody," said {C}. "This one is fast: it belonged to a mother of seven. This one is slow: it belonged to a fisherman."', 'Up there it smelled of dust and oil. The wheels were as big as mill wheels, and in the middle of them sat {Fa} on a nest of straw.'],
 ['{H} stayed to sweep the shop. At noon all the clocks struck, one after another, and it took until two.', '"If you start it, my nest will be torn," said {F}. "The little ones are just coming out." {H} looked down at the street, where people were running.'],
 ['One of them never struck at all. It was small and {color} and had no hands. "It waits," said {C}. "For what?" "I do not know. I am waiting too."', '"How long?" asked {H}. "Three weeks," said {F}. {H} went down. "It can be mended," {H he} said, "but it takes three weeks."'],
 ['{T}, when {H} had given up asking, it went ping. {C^} put down {C his} tea. "So," said {C}. "Now it is time for you to have a clock of your own."', 'The people grumbled. Then they got used to it. The baker slept longer, the school began when everyone was there, and nobody missed the coach, because it waited.'],
 ['It still has no hands. But when it goes ping, {H} stops whatever {H he} is doing and looks out of the window, and there is always something to see.', 'After three weeks five small ones flew out of the tower, and the clock struck. "What a pity," said the baker.'])
