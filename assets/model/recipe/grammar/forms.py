"""Documents that are no stories: questions and answers, letters, lists, descriptions, talk, riddles, instructions, diaries."""
from grammar.facts import HOW_TO, WHY
from grammar.text import Character, article, expand, polish
from grammar.words import (ANIMAL, BOY, COLOR, FEMALE, FOOD, FOODS, GIRL, HOME, NEAR, OBJECT, PET, PLACE, RIDDLE, TIME,
                           TRAIT)

GROWN = ['grandmother', 'grandfather', 'father', 'mother', 'uncle', 'aunt', 'teacher']
WEATHER = ['It is windy', 'It is sunny', 'It is raining', 'There is a little fog', 'It is very still']


def plural(noun):
    """The plural of a table's noun, which may have a tail: `loaf of bread`."""
    head, of, tail = noun.partition(' of ')
    head = {'loaf': 'loaves', 'pocket knife': 'pocket knives'}.get(head) or head + ('es' if head.endswith(('x', 'ch', 'sh', 's')) else 's')
    if head.endswith('ys') and head[-3] not in 'aeiou':
        head = head[:-2] + 'ies'
    return head + of + tail


def bindings(rng):
    """Words for a document without a plot."""
    h = Character(rng, 'human')
    o = rng.sample(OBJECT, 6)
    p = rng.sample(list(PLACE), 3)
    c = rng.sample(COLOR, 3)
    f, fs = rng.sample(FOOD, 3), rng.sample(FOODS, 3)
    friend = Character(rng, 'human', [h.name])
    return dict(H=h, F=friend, A=Character(rng, 'animal'), grown=rng.choice(GROWN), obj=o[0], obj2=o[1], obj3=o[2], obj4=o[3], color=c[0], color2=c[1], color3=c[2],
                objs=plural(o[4]), objs2=plural(o[5]), place=p[0], place2=p[1], at=f'{PLACE[p[0]]} the {p[0]}', at2=f'{PLACE[p[1]]} the {p[1]}',
                food1=article(f[0]), food2=article(f[1]), food=f[0], foods=fs[0], foods2=fs[1], foods3=fs[2], home=rng.choice(HOME), near=rng.choice(NEAR),
                T=rng.choice(TIME), trait=rng.choice(TRAIT), trait2=rng.choice(TRAIT), pet=rng.choice(PET), weather=rng.choice(WEATHER),
                two=rng.choice(['two', 'three', 'four', 'five', 'six', 'seven']), many=rng.choice(['seven', 'eight', 'nine', 'ten', 'twelve', 'twenty']),
                season=rng.choice(['spring', 'summer', 'autumn', 'winter']), day=rng.choice('Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split()))


def paragraphs(parts, b, rng):
    return '\n\n'.join(polish(expand(p, b, rng)) for p in parts)


def she(grown):
    return 'she' if grown in FEMALE or grown == 'teacher' else 'he'


def talk_of_why(rng):
    """A child asks a grown-up why; two or three questions that have answers."""
    b = bindings(rng)
    g = b['grown']
    whose = 'the teacher' if g == 'teacher' else '{H his} ' + g
    start = rng.choice(['{T} {H} and {whose} were [walking {at}|sitting by the window|sitting on the bench|washing the dishes|on their way home].', '{H} was {age} years old and asked questions all day long. {T} {H he} sat with {whose}.',
                        '{H} looked up from {H his} [book|plate|drawing].', '{T} {H} came to {whose} with a question.', ''])
    parts = [start] if start else []
    for i, (q, a) in enumerate(rng.sample(WHY, rng.choice([1, 2, 2, 3]))):
        ask = rng.choice(['"' + q + '" asked {H}.', '"' + q + '" {H} asked.', '"[Tell me|I want to know something|I have a question]," said {H}. "' + q + '"'] if i == 0 else
                         ['"And ' + q[0].lower() + q[1:] + '" asked {H}.', '{H} thought about it. "' + q + '" {H he} asked.', '"' + q + '" {H he} asked next.'])
        reply = rng.choice(['"' + a + '" said {whose}.', '"[Good question|Let me think|That is easy|I asked that too when I was small]," said {whose}. "' + a + '"', '{whose^} [smiled|thought for a moment|looked up]. "' + a + '"'])
        reply = reply.replace('." said', '," said')
        parts += [ask, reply] if rng.random() < 0.7 else [ask + ' ' + reply]
    parts.append(rng.choice(['"Now I know," said {H}.', '{H} was silent for a while. Then {H he} said, "[Tomorrow|At supper|In bed] I will think of something else."', '"How do you know all that?" asked {H}. "I asked," said {whose}.', '"And who told you?" asked {H}. "Somebody who had looked," said {whose}.',
                             '"I am glad that I asked," said {H}.', '"Do you know everything?" asked {H}. "No," said {whose}. "But we can find out together."', 'And {H} wrote it all down in a {color} notebook.']))
    b.update(whose=expand(whose, b, rng), age=rng.choice(['five', 'six', 'seven', 'eight']))
    return paragraphs(parts, b, rng)


def plain_why(rng):
    """Why and how, with a straight answer."""
    b = bindings(rng)
    parts = []
    for q, a in rng.sample(WHY, rng.choice([1, 2, 2, 3])):
        parts.append(q + rng.choice(['\n\n', ' ', ' ']) + a)
    return '\n\n'.join(polish(p) for p in parts)


def instructions(rng):
    """How to make something, step by step."""
    b = bindings(rng)
    name, steps, end = rng.choice(HOW_TO)
    words = rng.choice([['First', 'Then', 'After that', 'Now', 'Next', 'In the end', 'Last of all'], ['First of all', 'Next', 'Then', 'After that', 'Now', 'Then', 'At last']])
    said = [f'{w}, {s}.' if rng.random() < 0.8 or i == 0 else s[0].upper() + s[1:] + '.' for i, (w, s) in enumerate(zip(words, steps))]
    if rng.random() < 0.35:
        lines = [f'{i}. {s[0].upper() + s[1:]}.' for i, s in enumerate(steps, 1)]
        return polish(f'How to {name}') + '\n\n' + '\n'.join(lines) + '\n\n' + polish(end)
    if rng.random() < 0.5:
        parts = ['"How do you ' + name + '?" asked {H}.', '"It is not hard," said {H his} ' + b['grown'].replace('teacher', 'neighbor') + '. "' + ' '.join(said) + '"', '"And then?" asked {H}. "' + end + '"']
    else:
        parts = [f'This is how you {name}.', ' '.join(said), end]
    return paragraphs(parts, b, rng)


LETTERS = [
    ('Dear {grownC}', ['Thank you for the {color} {obj}. It is [just what I wanted|the best present of all]. I have shown it to everybody, even to the [cat|postman].', 'I [sleep with it under my pillow|use it every day]. {weather} today, and we had {foods} for dinner.', '[Please come and see us soon.|When are you coming to see us?]'], 'Your'),
    ('Dear {friend}', ['How are you? I am well. We are [by the sea|in the mountains|on the farm of my uncle], and {weatherl}.', 'Yesterday I [found {aobj}|saw {Aa} quite close|fell into the water with my shoes on]. There is a {Ak} here that follows me about. I call it {pet}.', 'I wish you were here. I am keeping [a shell|a feather|half of my sweets] for you.'], 'Your friend'),
    ('Dear {friend}', ['You are invited to my birthday party on {day}. It begins at three and is over when the cake is gone.', 'There will be {foods} and a treasure hunt. [Please bring a spoon.|You need not bring anything except your brother.]', 'If it rains, we shall be in the barn.'], 'Your'),
    ('Dear {friend}', ['I am sorry that I [broke your {obj}|shouted at you|forgot your birthday]. I have been thinking about it all week.', 'I should not have done it. I would like to make it good again. You may have my {color} {obj2}, if you want it.', 'Please write back, or just wave when you go by.'], 'Your'),
    ('Dear Winter', ['We have had enough of you now. It was nice at first. My sled was very fast, and the snow was good for throwing.', 'But my nose is cold, and the birds are hungry, and {grown} says that the wood is nearly gone.', 'Please go, and come again next year. Leave the icicle by the door.'], 'Respectfully, your'),
    ('Dear Moon', ['I can see you from my bed. Can you see me? I am the one in the window with the {color} curtain.', 'I would like to know whether you are [lonely|cold] up there, and whether you really follow us when we ride home in the cart.', 'If the answer is yes, please shine a little brighter on {day}.'], 'Good night from'),
    ('Dear {friend}', ['Since you moved away, nobody [climbs the wall with me|knows our secret sign]. The new people in your house have a {Ak}. It is not very friendly, but I am patient.', 'I go to the {place} every Saturday. Your {obj} is still hanging in the tree.', 'Do you have a wall there? Do you have a tree? Tell me everything.'], 'Your old friend'),
    ('Dear {grownC}', ['I am to tell you that we have arrived safely. The journey was long. {friend} was sick twice, and I was not sick at all.', 'There are {two} beds in my room, and I have tried them all. The food is good, but nobody makes {foods} as you do.', 'Please give my {Ak} a kiss between the ears.'], 'With love from'),
    ('Dear Neighbor', ['Your {Ak} has been in our garden again and has eaten the {foods}. We are not angry. {friend} says that it has [good manners|a kind face].', 'But perhaps you could shut the gate. And perhaps we could have some of your {foods2} when they are ripe.'], 'Yours truly,'),
    ('Dear Teacher', ['I could not come to school today because [there was a hen on my hat|I have a cold and it has me|the bridge was under water].', 'I have done the sums, all but the last one, which is wrong. I have read as far as the place where the door opens.', 'Please do not read on without me.'], 'Your pupil'),
    ('Dear Diary', ['Today nothing happened. I got up. I ate {food1}. I looked for my other shoe.', 'Then I went out {atl}, and there was {Aa}, and it looked at me as if it wanted to say something. It did not say it.', 'Perhaps it will tomorrow.'], ''),
]


def letter(rng):
    b = bindings(rng)
    g = rng.choice(['Grandmother', 'Grandfather', 'Aunt ' + rng.choice(GIRL), 'Uncle ' + rng.choice(BOY), 'Mother', 'Father'])
    b.update(grownC=g, friend=b['F'].name, aobj=article(b['color2'] + ' ' + b['obj2']), Ak=b['A'].kind, Aa=article(b['A'].kind), atl=b['at'], weatherl=b['weather'][0].lower() + b['weather'][1:])
    if b['grown'] != 'teacher':
        b['grown'] = 'my ' + b['grown']
    else:
        b['grown'] = 'our teacher'
    head, body, close = rng.choice(LETTERS)
    ps = '\n\n' + polish(expand(rng.choice(['P.S. [It is snowing.|I have lost a tooth.|Do not tell {friend}.|Write soon!]']), b, rng)) if rng.random() < 0.25 else ''
    end = f'\n\n{close} {b["H"].name}' if close else ''
    return expand(head, b, rng) + ',\n\n' + paragraphs(body, b, rng) + end + ps


LISTS = [
    ('What {H} had in {H his} [pockets|bag|basket|box]', ['{objA}', '{two} {objs}', 'a piece of string', '{food1}, with one bite missing', 'a letter from {F}', 'a key that fits nothing', '{aobj3}', 'half a pencil', 'a map of {theplace}', '{two} dry leaves', 'a button that belongs to {F}'], '[{H He} would not part with any of it.|"Everything in it is useful," said {H}.|And at the very bottom there was some sand.]'),
    ('Things that {H} wanted to do in the {season}', ['learn to whistle', 'sleep in the hay', 'make peace with the goose', 'count all the steps of the tower', 'find out who lives {at}', 'build a boat', 'write to {F}', 'eat {foods} until nobody can see them any more', 'stay awake until midnight', 'read the {color} book to the end', 'say sorry to {F}'], '[By the end of it {H he} had done all but one.|{H He} began with the last one.|{H He} hung it over {H his} bed.]'),
    ('On the market you could buy', ['{foods}, {foods2} and {foods3}', 'eggs, brown and white', 'a {color} {obj}', '{objs} of every size', 'honey in the comb', 'brooms and baskets', 'a hen that could count', 'warm bread', 'bells for cows', 'wool in {many} colors', 'good advice, for nothing'], '[{H} had one coin, and it was hard to choose.|{H} bought {foods} and carried them home.|But {H} only wanted to look.]'),
    ('For the journey they packed', ['{food1}', 'a {obj}', 'a {color} {obj2}', 'a rope', 'a warm blanket', 'matches in a tin', 'a bottle of water', '{two} onions', 'an umbrella with a hole', 'a song for the long stretches', 'dry socks'], '["What have we forgotten?" asked {H}. "We shall see when we need it," said {F}.|It was much too heavy, and so they ate the {food} first.|They had forgotten the map, but that came out only later.]'),
    ("In the garden of {H}'s grandmother there grew", ['beans that climbed up to the roof', 'roses, {color} and {color2}', 'a row of cabbages', 'mint beside the door', 'one very old pear tree', '{foods}', 'sunflowers taller than {H}', 'carrots for the pony', 'weeds, but only nice ones', 'thyme between the stones', 'a bush that nobody knew the name of'], '[In the middle stood a bench.|{H} knew every one of them.|And over it all you could hear the bees.]'),
    ('The rules of the club were these', ['nobody may be left out', 'whoever has {foods} must share them', 'the password is {obj}', 'no shouting, except on {day}', 'everyone may be captain for a day', 'secrets are to be kept', 'whoever breaks something helps to mend it', 'the {Ak} may come too', 'no mud on the {color} carpet', 'the last one in shuts the door'], '[{H} wrote it down, and {F} drew a border around it.|There were only two members, but it was a good club.|They all signed it.]'),
]


def listing(rng):
    b = bindings(rng)
    b.update(objA=article(b['color'] + ' ' + b['obj']), aobj3=article(b['obj3']), theplace='the ' + b['place'], Ak=b['A'].kind)
    title, items, end = rng.choice(LISTS)
    items = [expand(i, b, rng) for i in rng.sample(items, rng.choice([3, 4, 5, 6]))]
    title = polish(expand(title, b, rng))
    if rng.random() < 0.5:
        body = title + ':\n\n' + '\n'.join('- ' + polish_item(i) for i in items)
    else:
        verb = '' if title.startswith(('On', 'For', 'In', 'The rules')) else ':'
        body = title + (': ' if verb or title.startswith('The rules') else ' ') + ', '.join(polish_item(i) for i in items[:-1]) + ', and ' + polish_item(items[-1]) + '.'
    return body + '\n\n' + polish(expand(end, b, rng))


def polish_item(item):
    p = polish(item)
    return p[0].lower() + p[1:] if not item[0].isupper() else p


DESCRIPTIONS = [
    ['The village lay {near2}. It had {many} houses, a well, and one street that went up on one side and down on the other.', 'In the first house lived the [baker|smith|tailor], who got up before the birds. In the last one lived {F} with a {Ak} and {two} [hens|sisters|clocks].', 'In the {season} it smelled of [hay|wood smoke|apples|wet earth], and in the evening you could hear [the frogs|somebody playing the fiddle|the bell of the last cow].', 'Nothing much ever happened there, and {H} would not have lived anywhere else.'],
    ["The house of {H}'s {grown2} had {two} rooms and a staircase that creaked on every step but one.", 'In the kitchen stood a {color} stove, and over the stove hung pans of all sizes, from the one for an egg to the one for a goose. On the shelf there were jars of {foods}.', 'Upstairs there was a small bed under a sloping roof. When it rained, {H} lay there and listened, and it was the best place in the world.'],
    ['{A^} was {aAk} with a {color} spot over one [ear|eye]. {A He} was not large, but {A he} had a very good opinion of {A himself}.', 'In the morning {A he} liked to [sit on the step and look down the road|turn around three times before breakfast|sing]. At noon {A he} slept. In the evening {A he} wanted to know what there was for supper.', '{A He} was afraid of nothing except [thunder|geese|brooms|the bath]. And whoever was sad found {A him} beside them, quite by chance.'],
    ['It was [a clear|a cold|a bright|an early] {season} morning. The [fields|roofs|meadows] were [white with frost|wet with dew|still in the shade], and thin smoke rose from the chimneys.', 'A [cart|dog|boy with a ladder] came down the street. Somewhere a door opened, and somebody laughed.', '{H} stood at the window in {H his} bare feet. "Today," {H he} thought, "anything may happen."'],
    ['{O^} was as old as the [bridge|big oak], or so people said. {O He} had a face like a [winter apple|walnut] and hands that were never still.', '{O He} wore the same {color} coat in summer and in winter, and in its pockets there were always {foods} for the children and [a bone|a carrot|a crust] for whoever came along on four legs.', 'When you asked {O him} how {O he} was, {O he} said, "[Still here|No worse than yesterday|Better, now that you ask]."'],
    ['The sea is never the same. In the morning it is [grey and smooth|as pale as milk], and at noon it is [green|blue] and full of light.', 'When the wind comes, it puts on white caps and shouts. When the wind goes, it lies down and mutters to itself.', '{H} could sit on the wall for hours and look at it. "What are you waiting for?" people asked. "For the next wave," said {H}.'],
    ['In the {season} the forest [changes its dress|is another place]. [Light falls through the leaves like water.|The paths are soft, and every step smells of mushrooms.|The snow lies on the branches, and nothing moves.|The first green is so thin that you can see the sky through it.]', 'If you stand quite still, you can hear it: a woodpecker, far away, and a twig that snaps, and your own heart.', 'And if you are lucky, {Aa} comes out from behind a tree, looks at you, and goes on about its business.'],
    ['The shop of {O} was so full that you had to go in sideways.', 'There were {objs} and {objs2}, and a {color} {obj} hung from the ceiling. There were drawers up to the roof, and on each was written what was in it: nails, ribbons, {foods}, odds and ends, and, right at the top, do not open.', '"What can I do for you?" asked {O}. "I do not know yet," said {H}. That was the best answer, because then one could look around.'],
]


def description(rng):
    b = bindings(rng)
    b.update(near2=rng.choice(['in a valley', 'on a hill', 'where two rivers meet', 'at the foot of the mountain', 'by the sea', 'at the edge of a forest']), grown2=rng.choice(['grandmother', 'grandfather', 'uncle', 'aunt']),
             O=Character(rng, rng.choice(['old man', 'old woman', 'shoemaker', 'shepherd', 'ferryman', 'beekeeper', 'potter'])), Ak=b['A'].kind, Aa=article(b['A'].kind), aAk=article(b['A'].trait + ' ' + b['A'].kind))
    b['A'].named = True
    return paragraphs(rng.choice(DESCRIPTIONS), b, rng)


TALK = [
    (['"Where are you going?" asked {F}.', '"[To {theplace}|To my grandmother|To see the world|Nowhere special]," said {H}. "And you?"', '"I am coming from there," said {F}.', '"What is it like?"', '"[Wet|Wide|Quiet|Full of {foods}]," said {F}. "You will like it."', '"Then I shall go a little faster," said {H}.']),
    (['"What are you doing up there?" asked {H}.', '"I am [looking for my {obj}|waiting for the {foods}|learning to fly]," said {A}.', '"[And how is it going?|Will it take long?]"', '"[That is hard to say|It depends]," said {A}. "It is easier with two."', 'So {H} climbed up too.']),
    (['"Is there anything left to eat?" asked {F}.', '"There is {food1}," said {H}, "and there is half of {food2}."', '"Which half?"', '"The one that you have not eaten."', '{F} thought about that. "It is the better one," said {F}.']),
    (['"Are you awake?" whispered {H}.', '"No," said {F}.', '"Then how can you answer?"', '"I am answering in my sleep. Why are you not sleeping?"', '"I am thinking about [tomorrow|the {Ak}|what {grownT} said]."', '"Think about it with your eyes shut," said {F}. And after a while {H} did.']),
    (['"Who has eaten the {foods}?" asked {H his} mother.', '"Not I," said {H}.', '"Not I," said {F}.', 'They all looked at {A}, who was sitting under the table and had crumbs on {A his} nose.', '"Well," said {A}, "they were going to get cold."']),
    (['"Lend me your {obj}," said {F}.', '"What do you want it for?" asked {H}.', '"I want to [catch a cloud|surprise my mother|cross the river]."', '"And when shall I get it back?"', '"When you need it."', '"I need it now," said {H}. So they used it together.']),
    (['"Which would you rather be," asked {H}, "a [river|cloud|bird] or a [mountain|tree|stone]?"', '"[The first|The second]," said {F}. "And you?"', '"I would rather be the one who looks at both of them," said {H}.', '"That does not count," said {F}.', '"Then I will be the [bridge|wind]," said {H}.']),
    (['Knock, knock.', '"Who is there?" called {H}.', '"It is I, {A}. [It is raining on me.|I smelled {foods}.|I have brought you {food1}.]"', '"Wipe your feet," said {H}.', '"All four of them?" asked {A}.', '"All four of them. And then come in and sit by the fire."']),
    (['"Do you know the way to {theplace}?" asked the stranger.', '"You go [past the {place2}|over the bridge|through the gate]," said {H}, "and then to the left, where the {color} house was."', '"Where it was?"', '"It is gone. But everybody knows where it was."', '"I do not," said the stranger.', '"Then I had better come along," said {H}.']),
]


def talk(rng):
    b = bindings(rng)
    b.update(theplace='the ' + b['place'], Ak=b['A'].kind, grownT=rng.choice(['the teacher', 'your mother', 'the baker']))
    lines = rng.choice(TALK)
    if rng.random() < 0.6:
        lines = [rng.choice(['{T} {H} [met|was walking with|sat down beside] {F} {at}.', '{H} and {F} were [sitting on the wall|lying in the grass|on their way home].'])] + lines if not any('{A' in l or 'stranger' in l or 'awake' in l for l in lines) else [rng.choice(['{weather2}.', 'It was {T2}.'])] + lines
    b.update(weather2=rng.choice(['The wind was blowing', 'It was raining a little', 'The moon was shining', 'It was very still']), T2=rng.choice(['late', 'nearly dark', 'early', 'a long afternoon', 'a cold day']))
    return paragraphs(lines, b, rng)


def riddles(rng):
    b = bindings(rng)
    b['F'] = Character(rng, rng.choice(['human', 'animal']), [b['H'].name])
    b['F'].named = True
    rs = rng.sample(RIDDLE, rng.choice([2, 3, 3, 4]))
    parts = [rng.choice(['{H} and {F} were asking each other riddles.', '{T} it rained, and {H} and {F} had nothing to do. "Let us ask riddles," said {H}.', '"I know a riddle," said {H}.'])]
    for i, (q, a) in enumerate(rs):
        x, y = ('{H}', '{F}') if i % 2 == 0 else ('{F}', '{H}')
        parts.append(f'"{q}" asked {x}. ' + rng.choice([f'"{a[0].upper() + a[1:]}," said {y} at once.', f'{y} thought for a long time. "Is it {a}?" "[Yes|That is right|It is]," said {x}.', f'"I give up," said {y}. "It is {a}," said {x}.', f'{y} looked at the ceiling. "{a[0].upper() + a[1:]}!"']))
    parts.append(rng.choice(['"Now I do not know any more," said {H}. And so they went out to play.', '"One more," said {F}. But then supper was ready.', 'They went on until it was dark, and nobody knew any more who had won.', '"You are clever," said {F}. "So are you," said {H}.']))
    return paragraphs(parts, b, rng)


DIARY = ['I got up early and [helped in the garden|fed the hens|went to {theplace}].', '{F} came to see me, and we [built a raft|ate {foods}|played chess and did not quarrel].', 'It rained all day. I [read|drew a {Ak}|looked out of the window].', 'I found {aobj} {at} and put it in my box.', 'My tooth is loose. I can turn it around.', 'I was [cross|sad] in the morning, and I do not know why. In the evening it was gone.', 'We had {foods} for dinner. I had two helpings.', 'The {Ak} has young ones. There are {two} of them, and they are all {color}.', 'I tried to stay awake, but I', 'I learned to [whistle|tie a sailor\'s knot|say thank you in another language].', 'I told {F} the truth about the {obj}. It was not so bad.', 'The first [swallows|snowflakes|strawberries] came today.']


def diary(rng):
    b = bindings(rng)
    b.update(theplace='the ' + b['place'], Ak=b['A'].kind, aobj=article(b['color2'] + ' ' + b['obj2']))
    days = 'Monday Tuesday Wednesday Thursday Friday Saturday Sunday'.split()
    k = rng.choice([3, 4, 5])
    first = rng.randrange(7 - k + 1)
    e = rng.sample([d for d in DIARY if not d.endswith('but I')], k)
    title = expand(rng.choice(['From the diary of {H}', 'A week in the life of {H}', 'The diary of {H}, who was {age}']), dict(b, age=rng.choice(['eight', 'nine', 'ten'])), rng)
    return title + '\n\n' + '\n\n'.join(f'{d}. ' + polish(expand(x, b, rng)) for d, x in zip(days[first:], e))


FORMS = [(talk_of_why, 5), (plain_why, 3), (letter, 5), (listing, 3), (description, 4), (talk, 4), (riddles, 2), (instructions, 3), (diary, 2)]


def form(rng):
    """One document in one of the forms."""
    return rng.choices([f for f, _ in FORMS], [w for _, w in FORMS])[0](rng)
