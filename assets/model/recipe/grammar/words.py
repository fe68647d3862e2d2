"""Word tables. A noun that takes an article is given without one; `article` and `polish` in text.py set it."""


def words(s):
    return s.split()


GIRL = words("Lily Anna Rose Mia Nora Ella Clara Ivy Ruth Alice Molly Emma Grace Lucy Tess Jane Wren Hanna May Ada Sara Kate Elsie Polly Amy Zara Nina Maya Leela Sofia "
             "Marta Greta Helen Agnes Bella Daisy Dora Edith Fanny Flora Hattie Ida June Kitty Lena Lotte Mabel Nell Olga Pearl Rita Susan Tilda Vera Yuki Amina Ines Priya Rosa")
BOY = words("Tom Ben Sam Jack Max Leo Tim Finn Hugo Will Peter Ned Oliver Henry Joe Luke Adam Theo Robin Davy Jonas Karl Milo Owen Paul Ravi Omar Felix Noah Eli "
            "Albert Arthur Bert Carl Dan Emil Frank Fred George Giles Harry Hans Ivan Jim John Kofi Lars Mark Martin Nils Otto Percy Ralph Rupert Simon Toby Victor Walter Yusuf Pablo")
PET = words("Pip Bramble Hazel Nib Clover Moss Button Pepper Willow Biscuit Maple Rusty Dot Poppy Thistle Juniper Patch Olive Tilly Oscar Bruno Fern Mimi Tuft Pebble Ginger Socks Berry Rufus Mabel "
            "Acorn Amber Barley Basil Birch Bracken Brindle Cocoa Copper Crumb Fidget Fluff Freckle Hobb Inky Jasper Muffin Nettle Nutmeg Oats Quill Sorrel Speckle Tansy Teasel Toffee")
ANIMAL = {'fox': 'big', 'rabbit': 'small', 'bear': 'big', 'mouse': 'small', 'owl': 'fly', 'frog': 'small', 'duck': 'fly', 'hedgehog': 'small', 'squirrel': 'small', 'cat': 'small', 'dog': 'big',
          'crow': 'fly', 'goat': 'big', 'turtle': 'small', 'lion': 'big', 'elephant': 'big', 'monkey': 'small', 'goose': 'fly', 'hen': 'fly', 'pig': 'big', 'donkey': 'big', 'cow': 'big', 'lamb': 'small',
          'sparrow': 'fly', 'mole': 'small', 'badger': 'small', 'otter': 'small', 'deer': 'big', 'snail': 'small', 'kitten': 'small', 'puppy': 'small', 'pony': 'big', 'robin': 'fly', 'beaver': 'small',
          'penguin': 'small', 'swan': 'fly', 'hare': 'small', 'horse': 'big', 'camel': 'big', 'stork': 'fly', 'magpie': 'fly', 'swallow': 'fly', 'toad': 'small', 'weasel': 'small', 'wren': 'fly',
          'raven': 'fly', 'seal': 'big', 'ox': 'big', 'lizard': 'small', 'dove': 'fly', 'parrot': 'fly', 'bat': 'fly'}
FEMALE = {'old woman', 'grandmother', 'queen', 'princess', 'witch', 'fairy', 'mother', 'hen', 'cow', 'goose', 'aunt', 'sister', 'widow', 'seamstress', 'milkmaid', 'neighbor woman', 'ewe'}
TRADE = ['old woman', 'old man', 'farmer', 'baker', 'fisherman', 'miller', 'shepherd', 'gardener', 'woodcutter', 'tailor', 'grandmother', 'sailor', 'teacher', 'blacksmith',
         'shoemaker', 'clockmaker', 'potter', 'weaver', 'beekeeper', 'carpenter', 'ferryman', 'postman', 'cook', 'seamstress', 'painter', 'basket maker', 'lamplighter', 'doctor']
PLAIN = TRADE + ['king', 'queen', 'wolf', 'witch', 'troll', 'giant', 'wizard', 'fairy', 'dragon', 'prince', 'princess', 'mayor', 'captain', 'widow', 'merchant', 'traveler', 'peddler', 'judge', 'ghost', 'uncle', 'aunt']
TRAIT = words("little small young shy curious brave kind cheerful clever gentle lonely sleepy lazy proud merry quiet careful hungry funny patient "
              "stubborn honest dreamy restless thoughtful lively forgetful friendly wise bold timid busy")
COLOR = words("red blue green yellow white black brown golden silver purple orange grey pink scarlet violet cream")
OBJECT = ['ball', 'hat', 'kite', 'key', 'bell', 'drum', 'scarf', 'book', 'basket', 'doll', 'ring', 'button', 'boat', 'lantern', 'cup', 'ribbon', 'shoe', 'coat', 'box', 'whistle', 'spoon', 'blanket', 'stone',
          'feather', 'coin', 'toy horse', 'paintbrush', 'mirror', 'glove', 'umbrella', 'marble', 'flute', 'compass', 'map', 'shell', 'thimble', 'wooden duck', 'spinning top', 'pocket knife', 'apron', 'cap',
          'pencil', 'teapot', 'candlestick', 'horseshoe', 'music box', 'bucket', 'pillow', 'sled', 'fiddle']
FOOD = ['apple', 'cake', 'pie', 'loaf of bread', 'pear', 'bowl of soup', 'plum', 'honey cake', 'carrot', 'piece of cheese', 'bun', 'pot of honey', 'basket of berries', 'jar of jam', 'pancake', 'cookie',
        'bag of nuts', 'slice of melon', 'roast potato', 'dish of dumplings', 'ginger biscuit', 'bowl of porridge', 'slice of bread and butter', 'sweet orange', 'bunch of grapes', 'cup of cocoa', 'apple tart', 'corn cake']
FOODS = ['apples', 'cakes', 'pies', 'pears', 'plums', 'carrots', 'buns', 'berries', 'nuts', 'pancakes', 'cookies', 'cherries', 'strawberries', 'sweets', 'chestnuts', 'figs', 'peaches', 'turnips', 'biscuits',
         'dumplings', 'oranges', 'raisins', 'waffles', 'apricots']
# each place with the preposition that stands before it
PLACE = {'forest': 'in', 'garden': 'in', 'meadow': 'in', 'village': 'in', 'valley': 'in', 'hill': 'on', 'farm': 'on', 'river': 'by', 'pond': 'by', 'lake': 'by', 'beach': 'on', 'field': 'in', 'orchard': 'in',
         'mountain': 'on', 'wood': 'in', 'market': 'at', 'old mill': 'at', 'harbor': 'in', 'park': 'in', 'island': 'on', 'stream': 'by', 'bridge': 'at', 'churchyard': 'in', 'marsh': 'in', 'moor': 'on',
         'crossroads': 'at', 'old castle': 'in', 'quarry': 'in', 'vineyard': 'in', 'town': 'in', 'mill pond': 'by', 'big barn': 'in', 'village green': 'on', 'spring': 'by'}
HOME = ['a small house', 'a little cottage', 'a tiny hut', 'an old barn', 'a stone house', 'a house with a red roof', 'a little house by the road',
        'an old windmill', 'a hut with one window', 'a house with a crooked chimney', 'a room under the roof', 'a wagon that had lost its wheels', 'a boat that no longer sailed']
ANIMAL_HOME = ['a cosy den', 'a hollow tree', 'an old barn', 'a warm burrow', 'a nest of hay', 'a hole under a root', 'a box behind the stove', 'a shed full of straw']
NEAR = ['near the forest', 'by the river', 'at the edge of the wood', 'on a green hill', 'beside a quiet lake', 'not far from the sea', 'in a small village', 'in a deep valley', 'at the foot of the mountain',
        'next to a big oak tree', 'behind the old mill', 'in the middle of a meadow', 'at the end of a long lane', 'where two rivers meet', 'on the far side of the hill', 'under three tall pines',
        'between the sea and the moor', 'at the top of a steep street', 'in a town with a hundred chimneys', 'close to the harbor']
TIME = ['One day', 'One morning', 'One afternoon', 'One sunny day', 'One cold morning', 'One summer day', 'One evening', 'One spring morning', 'One windy day', 'One autumn day', 'Early one morning', 'One rainy day',
        'One bright morning', 'Late one afternoon', 'One quiet evening', 'One Sunday', 'One day in May', 'One foggy morning', 'On the first day of spring', 'One market day', 'On the hottest day of the year',
        'One winter morning', 'One clear evening', 'One Saturday', 'On the longest day of the year', 'One misty day in October']
JOY = ['happy', 'glad', 'proud', 'full of joy', 'very happy', 'so happy that {H he} [danced|laughed|jumped up and down|sang a song]', 'as happy as could be', 'happier than ever before', 'warm all over with joy', 'too glad to speak']
SAD = ['sad', 'very sad', 'unhappy', 'worried', 'upset', 'so sad that {H he} [began to cry|could not eat|could not sleep|sat down and cried]', 'close to tears', 'heavy of heart', 'sorry and tired', 'full of worry']
LOVE = ['to sing', 'to play in the sun', 'to tell stories', 'to eat {foods}', 'to look at the stars', 'to run in the fields', 'to help {H his} mother', 'to sleep late', 'to ask questions', 'to draw pictures', 'to climb trees',
        'to splash in the water', 'to pick flowers', 'to collect shells', 'to dance', 'to listen to the rain', 'to whistle', 'to count things', 'to watch the clouds', 'to make up songs', 'to mend old things',
        'to know how things work', 'to sit by the fire', 'to collect {color} things', 'to talk to {H himself}', 'to walk in the snow', 'to dig holes', 'to give things names', 'to swing on the gate', 'to look out of the window']
RIDDLE = [('What has teeth but cannot bite?', 'a comb'), ('What goes up and never comes down?', 'your age'), ('What has a neck but no head?', 'a bottle'), ('What gets wetter the more it dries?', 'a towel'),
          ('What has hands but cannot clap?', 'a clock'), ('What can you keep only after you give it away?', 'your word'), ('What runs all day and never gets tired?', 'the river'), ('What has one eye but cannot see?', 'a needle'),
          ('What is full of holes and still holds water?', 'a sponge'), ('What flies without wings?', 'time'), ('What falls all day and never gets hurt?', 'the rain'), ('What follows you by day and leaves you at night?', 'your shadow'),
          ('What has a bed but never sleeps?', 'the river'), ('What grows bigger the more you take away from it?', 'a hole'), ('What has four legs and cannot walk?', 'a table'), ('What has a tongue but cannot speak?', 'a shoe'),
          ('What has ears but cannot hear?', 'a field of corn'), ('What is broken as soon as you speak its name?', 'silence'), ('What is yours, but others use it more than you do?', 'your name'), ('What comes down but never goes up?', 'the rain'),
          ('What eats and eats, and dies when it drinks?', 'the fire'), ('What has many leaves and is no tree?', 'a book'), ('What can fill a room and takes no space?', 'light'), ('What goes through the door and never comes in?', 'the keyhole'),
          ('What speaks every language and has no mouth?', 'the echo'), ('What gets shorter the longer it stands?', 'a candle'), ('Which house has no door?', 'an egg'), ('What has a back and four legs and no head?', 'a chair')]
