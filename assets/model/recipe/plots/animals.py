"""Fables and lives of animals."""
from plots import pair

pair('animal', {'F': 'animal', 'G': 'animal'}, 'share',
 ['{F^} and {G} found a big cheese and could not agree. "You cut," said {F}. "No, you cut," said {G}. They asked {H} to be the judge.', '{H} was the fairest in the whole wood, or so {H he} said. {T} {F} and {G} brought {H him} a pie.'],
 ['{H} cut it in two. "This one is bigger," {H he} said, and bit a piece off, to be fair.', '"First I must taste whether it is worth a quarrel," said {H}. It was.'],
 ['"Now the other one is bigger," said {H}, and bit off a piece of that.', '{H He} tasted the left side. {H He} tasted the right side. {H He} said that it was a difficult case.'],
 ['So it went on, left and right, and {F} and {G} looked at it, left and right.', '"Perhaps we could do it ourselves," said {F}. "Quiet in the court," said {H} with {H his} mouth full.'],
 ['"Stop!" cried {G}. "There is nothing left but the rind!" "That is my pay," said {H}, and ate that too.', 'At last there was a crumb. {H} looked at it with one eye shut and cut it into two.'],
 ['{F} and {G} went home together. "The next time," said {F}, "you cut, and I choose." And since then they have never needed a judge.', '"There," {H he} said. "Perfectly even." They could not say anything against it.'])

pair('animal', {'F': 'animal'}, 'promise',
 ['In the time of the great drought {H} and {F} dug a well together, the one by day and the other by night.', '{H} and {F} had a field together. "You take what is above the ground," said {H}, "and I take what is below it."'],
 ['By day {F} dug like a storm. At night {H} lay in the hole and snored.', '{F^} agreed, and worked, and watered. But {H} had sown [carrots|turnips|potatoes], and so {F} got nothing but leaves.'],
 ['"How deep is it?" asked {F} every morning. "Very deep," said {H}, "but you cannot see it in the dark."', '"The next time," said {F}, "I will take what is below." "Gladly," said {H}, and sowed [wheat|oats|beans].'],
 ['{F^} said nothing. {F He} took a ball of string and measured it.', '{F^} got the roots. {F He} chewed on one of them for a while and thought.'],
 ['The next night it rained for the first time, and the hole filled up with {H} in it. "Help!" cried {H}. "Oh, I will not wake you," said {F}.', '"The third time," said {F}, "I will take what is above and what is below, and you may have what is in the middle." And {F he} sowed {foods2}.'],
 ['Then {F he} let down the string after all. "From tomorrow on," said {F}, "you dig by day." And {H} dug.', '{H} stood in the field and looked for the middle. Then {H he} laughed and held out {H his} paw. "Half and half," {H he} said. "All of it."'])

pair('animal', {'F': 'animal', 'M': 'mother'}, 'self',
 ['{H} was the last to come out of the egg and the first to ask a question. "Where am I?"', '{H} was found in the grass, and no one knew whose {H he} was. {F^} took {H him} in.'],
 ['"What are you?" asked the others. They all had brothers, and they looked like them.', '"You are one of us," said {F}, although it did not look that way.'],
 ['"Are you my mother?" {H} asked a bucket. "Are you my mother?" {H he} asked a cow. The cow was kind about it.', 'When they sang, {H} made another noise. When they ran, {H} came too late. When they slept, {H} lay awake and looked at the moon.'],
 ['{H He} went past the {place} and across the {place2}. In the evening {H he} was so tired that {H he} sat down under something warm.', '{T} strangers came by who looked just like {H}. "There you are!" they cried. "Come with us!"'],
 ['"There you are," said the warm thing. "I have been looking for you since breakfast."', '{H} looked at them, and {H he} looked at {F}, who was pretending to be busy with a leaf.'],
 ['"How did you know that it was me?" asked {H}. "By your questions," said {H his} mother. "You asked them even in the egg."', '"I shall visit you in summer," said {H} to the strangers. "But I live here." And {F} had to blow {F his} nose.'])

pair('animal', {'V': ['lion', 'bear', 'elephant', 'ox'], 'G': 'small'}, 'clever',
 ['{V^} said that {V he} was the strongest of all, and there was nobody who dared to say no. Only {H} said, "Perhaps."', '{V^} wanted to be king of the animals. "Whoever is against it may step forward," said {V}. Nobody stepped forward. But {H} yawned.'],
 ['"What do you mean, perhaps?" roared {V}. "I know someone whom you cannot hold," said {H}. "Tomorrow at the river."', '"What do we need a king for?" asked {H}. "To tell you what to do," said {V}. "We know what to do," said {H}. "It is time for supper."'],
 ['The next day they were all there. "Here {G he} is," said {H}, and on {H his} shoulder sat {G}.', '"A king must be able to do everything better than the others," said {G}. "That is only fair."'],
 ['{V^} laughed and put down one great paw. But {G} was already on {V his} back, and then in {V his} ear, and then between {V his} toes.', 'So they had a contest. {V^} swam worse than the otter, climbed worse than the squirrel, and sang worse than the robin. But {V he} roared best.'],
 ['{V^} jumped, and slapped, and rolled. In the end {V he} lay in the river with all four legs up, laughing, for it tickled. "Stop, I give in!"', '"Then be king of roaring," said {H}. And they gave {V him} a crown of leaves.'],
 ['"Strong is one thing," said {H}, "and quick is another." And after that {V} said perhaps as well.', '{V^} was quite content. And at supper time, when the little ones do not hear, {V he} roars once for all of them.'])

pair('animal', {'F': 'animal', 'G': 'fly'}, 'home',
 ['{H} was a house {Hk}, and {F} lived out in the wild. {T} they met at the fence.', '{H} lived in the town, and {H his} cousin lived in the country. {T} the cousin came to visit.'],
 ['"Come and stay with me," said {H}. "There is a cushion, and there is milk at four."', '"Poor thing," said {H}, "you live on roots. Here we have {foods} on a silver plate."'],
 ['The cushion was soft. But there was a door, and the door was shut. "What do they do that for?" asked the guest.', 'They sat under the big table and ate what fell down. Then came boots, and a broom, and a terrible bark.'],
 ['"Then come and stay with me," said the guest. "There is the wind, and there is everything." So {H} went along.', '"You get used to it," said {H} in the hole under the stairs. "That happens only five or six times a day."'],
 ['The wind was there, and it blew through {H his} coat. The everything was mostly wet. "When is it four?" asked {H}.', '"Thank you," said the cousin, "it was very good. But I like to chew in peace." And that same night the cousin went home.'],
 ['So each went back, and each was glad of it. But on sunny days they meet at the fence, which belongs to both.', 'In the spring {H} went there too, for a visit. There were roots for supper. "How still it is," said {H}, and took some more.'])

pair('fly', {'F': 'fly', 'G': 'animal'}, 'brave',
 ['All the others had learned to fly. {H} sat on the edge of the nest and looked down. It was a long way.', 'In autumn they all gathered on the roof, for it was time to go south. {H} had never been there.'],
 ['"You only have to let go," said {F}. That was just what {H} did not want.', '"How do we know the way?" asked {H}. "We know it when we are up there," said {F}.'],
 ['{H He} asked {G}, who lived below, to put down some moss. {G^} put down a whole heap. "And some more on the left," said {H}.', 'They flew over the {place} and over the sea. On the third day the fog came. {H} looked to the right and to the left, and {H he} was alone.'],
 ['For three days {H he} looked down at the moss. {H He} knew every bit of it by now.', '"Now I am up here," thought {H}, "and I do not know it at all." {H He} shut {H his} eyes. And then there was something in {H his} chest, like a string that pulled.'],
 ['Then a wasp came, and {H} jumped without thinking. {H He} was so angry with the wasp that {H he} had gone around the tree twice before {H he} noticed.', '{H He} followed the string, through the grey and through the night. In the morning the fog tore, and there below lay a warm green land.'],
 ['"I never touched the moss!" {H} called down. "That is what it was for," said {G}.', '"There you are," said {F} on a tree full of {foods}. "You came the short way."'])

pair('animal', {'F': 'animal', 'O': ['farmer', 'old woman', 'miller', 'shepherd']}, 'work',
 ['Everyone on the farm of {O} had work to do: the hen laid eggs, and the horse pulled the cart. Only {H} had none.', '"What are you good for?" the other animals asked {H}. {H} thought hard, but nothing came to {H him}.'],
 ['{H} tried to lay an egg. {H He} sat for two hours on a potato. Then {H he} tried to pull the cart, and the cart pulled {H him}.', '{H He} had no milk, no wool, and no voice for the morning. {H He} could only sit at the gate and look.'],
 ['"Well, you can look after the moon," said {F}, and all the others laughed. But {H} did it. {H He} sat there every night and watched it.', 'So {H he} sat at the gate. {H He} said good morning to everyone who went out, and good evening to everyone who came home.'],
 ['So {H he} was the only one awake when the [fox|flood] came. {H He} made such a noise that the plates fell off the shelf.', '{T} {H} was ill and stayed in the straw. The milk was sour that day. The hens were out of temper, and {O} forgot {O his} hat.'],
 ['They all ran out, and they were just in time. {O^} counted the hens. There was not one missing.', '"What is wrong here?" asked {O}. They all thought about it. "There was nobody at the gate," said {F}.'],
 ['"And the moon is still there too," said {H}. After that nobody laughed at {H his} work.', 'They brought {H him} some soup, and the warmest blanket. "That is what you are good for," said {F}. "We had only never noticed."'])

pair('small', {'F': 'big', 'G': 'fly'}, 'friend',
 ['{H} was very small and {F} was very large, and they could not find anything that they could play together.', '{F^} was so big that {F he} did not see {H} and sat down on {H his} house.'],
 ['At hide and seek {F} stuck out on both sides. On the seesaw {H} stayed up and {F} stayed down.', '"Excuse me," called {H}. {F^} looked to the left and to the right. "Down here!" {H} shouted. "You are sitting on my kitchen!"'],
 ['"We do not fit together," said {F} sadly. {H} was sitting in {F his} ear, because otherwise they could not talk.', '{F^} got up, and {F he} was so ashamed that {F his} ears hung down. The house was as flat as a plate.'],
 ['"From here I can see everything," said {H}. "What can you see?" asked {F}. "There is a pond behind the hill, and {foods} behind the pond."', '"I will build you a new one," said {F}. But with {F his} big feet {F he} could not even hold the hammer.'],
 ['So they went there. {F} did the walking, and {H} did the looking. {F} shook the tree, and {H} picked what fell.', '"Then at least I will stand here until it is finished," said {F}, "so that nobody else sits down on it." {F He} kept the rain off, and the wind too.'],
 ['"What shall we play now?" asked {F}. "But we are playing already," said {H}.', 'When the house was finished, it had a large window toward one side. "So that I can see you," said {H}, "and you can see me."'])

pair('animal', {'F': 'small', 'V': 'animal'}, 'greed',
 ['{H} found a hole in the wall of the pantry. {H He} was thin, and so {H he} just fitted through.', '{H} collected things. {H He} had buttons and spoons and corks, and whoever came to see them was not allowed to touch anything.'],
 ['Inside there were {foods}, and {foods2}, and a ham. {H} ate for one day, and {H he} ate for two.', '"What do you need nineteen corks for?" asked {F}. "So that I have them," said {H}.'],
 ['On the third day there were steps. {H} ran to the hole and put {H his} head through, and then {H his} shoulders, and then nothing more.', 'Soon there was no room for the bed. {H} slept standing up, with one foot on the spoons.'],
 ['"Pull!" {H he} called to {F} who was standing outside. {F^} pulled. It was no use.', '{T} {F} was in need of just one cork, because there was a leak in {F his} boat. "Which one?" said {H}. "I cannot do without any of them."'],
 ['"How did you get in?" asked {F}. "Hungry," said {H}. "Then you must come out hungry," said {F}, and sat down to wait.', 'That night {H} turned over, and it all came down: the spoons, the buttons, and the shelf. {H} lay underneath. "{Fv}!" {H he} cried.'],
 ['It took four days behind the flour barrel. When {H} was out at last, {H he} was as thin as before, and {H he} went past the hole with {H his} eyes shut.', '{F^} dug {H him} out, one button at a time. When they were done, {H} took the best cork of all. "For the boat," {H he} said. And then {H he} slept lying down.'])

pair('animal', {'F': 'animal', 'G': 'animal'}, 'work',
 ['{H} found a bag of flour. "Who will help me to bake?" {H he} asked. "Not I," said {F}. "Not I," said {G}.', 'The bridge was broken. "Someone ought to mend it," said {F}. "Yes, someone ought to," said {G}.'],
 ['So {H} carried the water alone. "Who will help me to stir?" "I have something in my eye," said {F}. "I am asleep," said {G}.', 'They waited for Someone. They waited the whole week. "He must be very busy," said {F}.'],
 ['{H} stirred, and {H he} made the fire, and {H he} washed the bowl.', '{H} went around by the deep water, and got wet. On Monday {H he} went around. On Tuesday {H he} brought a board along.'],
 ['Then the smell came out of the oven. It went to {F}, and it went to {G}, and took them both by the nose.', 'It was one board. On Wednesday there was another one, and {H} did not know where it came from.'],
 ['"Who will help me to eat?" asked {H}. "I will!" cried {F}. "I am awake!" cried {G}.', 'On Thursday {F} was standing there with nails. "I was just passing," said {F}. On Friday {G} held the hammer.'],
 ['{H} looked at them for a long time. "Good," {H he} said. "And you will help me to wash up. That comes first today." And so they learned it.', '"So Someone has come after all," said {G}, when it was finished. "Yes," said {H}. "There were three of him."'])

pair('animal', {'F': 'animal'}, 'try',
 ['{H} read in a book that [cats always land on their feet|owls are wise|bears love honey]. {H He} did not think that it was true of {H him}.', '{H} could not say the letter R. "Wun!" {H he} shouted, when the others were to run, and they all laughed.'],
 ['{H He} wrote a letter to the one who had made the book. "Dear Sir," {H he} wrote, "there is a mistake on page nine."', '{H} talked less and less. It is not easy to find words without it.'],
 ['An answer came. "Dear reader, please send us what is right."', '{F^} never laughed. "Say it to the stream," said {F}. "It says it all day long."'],
 ['So {H} began to watch what {H he} did, and wrote it down. "I like to sing. I am afraid of geese. On Tuesdays I am mostly cheerful."', '{H} lay on {H his} stomach and listened. The water rolled over the stones: rrr, rrr, rrr. {H} rolled along with it.'],
 ['It became a thick book. {F^} read it and said, "I did not know that there was so much to know about you."', 'For weeks it sounded like a saw. Then it sounded like a cat. And then, one evening, "{Fv}!" cried {H}. "Rrrun!"'],
 ['"Neither did I," said {H}, and began the second part.', 'And {F} ran, all the way around the {place}, for joy.'])
