"""Questions about many fields of software, for repositories that have nothing to do with them."""

from typing import NamedTuple


class Topic(NamedTuple):
    """A question, and the words that a repository about it would use."""

    question: str
    words: tuple[str, ...]


def _topic(question: str, words: str) -> Topic:
    return Topic(question, tuple(words.split()))


# Each of a field of its own, so that a repository is about few of them. The words are parts of
# words, in lower case: where one stands anywhere in a repository, its question is not asked.
TOPICS = (
    _topic("how are withdrawals from a bank account limited per day", "withdrawal overdraft"),
    _topic("where is the mortgage interest amortized over the years", "mortgage amortiz"),
    _topic("how is VAT added to an invoice", "invoice vat_rate vatrate"),
    _topic("convert an exchange rate between two currencies", "exchange_rate exchangerate forex"),
    _topic("match buy and sell orders in the order book", "orderbook order_book bidask"),
    _topic("compute the payroll of hourly employees", "payroll salary"),
    _topic("reserve a seat on a flight", "airline boarding passenger"),
    _topic("check a hotel room in and out", "hotel checkout_date housekeeping"),
    _topic("find the shortest route for a delivery truck", "courier truck freight"),
    _topic("how does the elevator choose its next floor", "elevator lift_car"),
    _topic("where are parking tickets paid", "parking parked_car"),
    _topic("apply a coupon to a shopping cart", "coupon shopping"),
    _topic("dose of a drug by the weight of the patient", "patient dosage"),
    _topic("align two DNA sequences", "dna nucleotide genom"),
    _topic("classify tumours in an X-ray image", "tumor tumour radiolog"),
    _topic("schedule the nurses of a hospital ward", "nurse hospital"),
    _topic("fold a protein into its structure", "protein amino_acid"),
    _topic("forecast tomorrow's rainfall from radar images", "rainfall precipitation weather"),
    _topic("compute the orbit of a satellite", "satellite orbital ephemeris"),
    _topic("steer a drone back to its launch site", "quadcopter drone waypoint"),
    _topic("read the acceleration from a gyroscope", "gyroscope accelerometer"),
    _topic("keep a robot arm from colliding with the table", "robot_arm robotarm kinematic"),
    _topic("open the garage door over Bluetooth", "bluetooth garage"),
    _topic("charge the battery of an electric car overnight", "charging_station electric_car"),
    _topic("switch the street lights on at dusk", "street_light dusk"),
    _topic("irrigate a greenhouse when the soil is dry", "irrigat greenhouse soil"),
    _topic("count the sheep of a flock in an aerial image", "sheep livestock"),
    _topic("brew coffee at a set temperature", "coffee espresso"),
    _topic("scale a recipe to more servings", "servings ingredient cookbook"),
    _topic("shuffle and deal a deck of cards", "shuffle_deck playing_card poker"),
    _topic("find the best chess move by alpha-beta search", "chess alphabeta checkmate"),
    _topic("let enemies follow the player through a maze", "enemy enemies player"),
    _topic("detect collisions between sprites", "sprite hitbox"),
    _topic("shade a surface with normal maps", "normal_map shader"),
    _topic("trace rays against a bounding volume hierarchy", "raytrac ray_trac bounding_volume"),
    _topic("mix several audio tracks into one", "audio_track mixdown waveform"),
    _topic("tune a guitar from the microphone", "guitar microphone"),
    _topic("encode video frames as H.264", "h264 h.264 keyframe"),
    _topic("remove the background of a portrait photo", "portrait chroma_key"),
    _topic("recognise handwritten digits", "handwritten handwriting"),
    _topic("train a neural network by backpropagation", "backprop neural gradient_descent"),
    _topic("cluster customers by what they buy", "kmeans k-means centroid"),
    _topic("translate a sentence from Spanish to German", "spanish bilingual"),
    _topic("detect spam in incoming mail", "spam bayesian"),
    _topic("rank web pages by their incoming links", "pagerank page_rank"),
    _topic("elect a leader among replicas by a quorum of votes", "quorum raft_log paxos"),
    _topic("mine a block and check its proof of work", "blockchain proof_of_work"),
    _topic("sign a transaction with a hardware wallet", "hardware_wallet seed_phrase bitcoin"),
    _topic("grade the exams of a class", "exam_grade student gradebook"),
    _topic("borrow a book and pay the overdue fine", "library_card overdue_fine borrower"),
    _topic("how are votes counted in an election", "ballot election_result"),
    _topic("simulate cars at a traffic light", "traffic_light intersection_car vehicle"),
    _topic("solve a sudoku by elimination", "sudoku"),
    _topic("draw a family tree of ancestors", "genealog ancestor_tree grandparent"),
    _topic("show the phases of the moon", "lunar moon_phase"),
    _topic("plan a running training by heart rate", "heart_rate heartrate marathon"),
    _topic("measure the noise of the ocean with buoys", "buoy ocean"),
    _topic("control the rods of a nuclear reactor", "nuclear coolant"),
    _topic("print a three-dimensional model in layers", "gcode g-code extruder"),
    _topic("carve a roof truss to bear snow", "truss snow_load"),
)
