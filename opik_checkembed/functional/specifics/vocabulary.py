"""The words that numbers, dates and names are written with, in the languages that the extraction covers.

Data only. Words are casefolded; languages are ISO 639-1 codes. A language that is not listed is read with what all
share: digits, ISO dates, symbols, capitals. In the tables a line is a value with the words for it, and an underscore
stands for a space.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NUKTA = "\u093c"


def _spellings(word: str) -> set[str]:
    """A word as it is and, in Hindi, with the dot below as a mark of its own, in one with the letter, or left out."""
    apart = unicodedata.normalize("NFD", word)
    if _NUKTA not in apart:
        return {word}
    in_one = apart
    for code in range(0x958, 0x960):
        in_one = in_one.replace(unicodedata.normalize("NFD", chr(code)), chr(code))
    return {word, apart, in_one, apart.replace(_NUKTA, "")}


def _table(text: str) -> dict[str, str]:
    found = {}
    for line in text.strip().splitlines():
        value, _, words = line.partition(": ")
        for word in words.split():
            found.update(dict.fromkeys(_spellings(word.replace("_", " ")), value.replace("_", " ")))
    return found


def _numbers(text: str) -> dict[str, int]:
    return {word: int(value) for word, value in _table(text).items()}


DECIMAL_COMMA = _words("de fr es it pt nl pl ru sv da nb fi cs tr")
"""Languages that write 1.234,5 where English writes 1,234.5."""

WITHOUT_CAPITALS = _words("zh ja ko ar he fa hi bn th ur")

NOUNS_IN_CAPITALS = _words("de lb")

MONTHS: Mapping[str, int] = _numbers("""
1: january januar jänner janvier enero jan يناير जनवरी كانون_الثاني جانفي
2: february februar feber février febrero feb فبراير फ़रवरी फरवरी شباط فيفري
3: march märz mars marzo mar مارس मार्च آذار
4: april avril abril apr أبريل अप्रैल نيسان أفريل ابريل إبريل
5: may mai mayo maj مايو मई أيار ايار ماي
6: june juni juin junio jun يونيو जून حزيران جوان يونيه
7: july juli juillet julio jul يوليو जुलाई تموز جويلية يوليه يوليوز
8: august août agosto aug أغسطس अगस्त آب اغسطس غشت أوت
9: september septembre septiembre setiembre sep sept سبتمبر सितंबर सितम्बर أيلول ايلول شتنبر
10: october oktober octobre octubre oct okt أكتوبر अक्टूबर अक्तूबर تشرين_الأول تشرين_الاول اكتوبر
11: november novembre noviembre nov نوفمبر नवंबर नवम्बर تشرين_الثاني نونبر
12: december dezember décembre diciembre dec dez ديسمبر दिसंबर दिसम्बर كانون_الأول كانون_الاول دجنبر
""")

SHORT_MONTHS = _words("jan feb mar apr maj jun jul aug sep sept oct okt nov dec dez")
"""Read as months only beside a day or a year."""

DOUBTFUL_MONTHS = _words("مارس آب ماي أوت جوان غشت may march august mars mai mar april june mayo julio abril")
"""Also names or other words: alone they are months only after a preposition."""

WEEKDAYS: Mapping[str, int] = _numbers("""
1: monday montag lundi lunes الأثنين الاثنين الإثنين सोमवार 礼拜一 週一 星期一 周一 月曜日 月曜
2: tuesday dienstag mardi martes الثلاثاء الثلثاء मंगलवार 礼拜二 週二 星期二 周二 火曜日 火曜
3: wednesday mittwoch mercredi miércoles الأربعاء الاربعاء बुधवार 礼拜三 週三 星期三 周三 水曜日 水曜
4: thursday donnerstag jeudi jueves الخميس गुरुवार बृहस्पतिवार वीरवार 礼拜四 週四 星期四 周四 木曜日 木曜
5: friday freitag vendredi viernes الجمعة शुक्रवार 礼拜五 週五 星期五 周五 金曜日 金曜
6: saturday samstag sonnabend samedi sábado السبت शनिवार 礼拜六 週六 星期六 周六 土曜日 土曜
7: sunday sonntag dimanche domingo الأحد الاحد रविवार इतवार 礼拜日 週日 星期日 周日 星期天 礼拜天 日曜日 日曜
""")

CARDINALS: Mapping[str, Mapping[str, int]] = {
    "en": _numbers("""
0: zero
1: one first
2: two second
3: three third
4: four fourth
5: five fifth
6: six sixth
7: seven seventh
8: eight eighth
9: nine ninth
10: ten tenth
11: eleven eleventh
12: twelve twelfth
13: thirteen thirteenth
14: fourteen fourteenth
15: fifteen fifteenth
16: sixteen sixteenth
17: seventeen seventeenth
18: eighteen eighteenth
19: nineteen nineteenth
20: twenty twentieth
30: thirty thirtieth
40: forty fourty fortieth
50: fifty fiftieth
60: sixty sixtieth
70: seventy seventieth
80: eighty eightieth
90: ninety ninetieth
"""),
    "fr": _numbers("""
0: zéro
1: un une
2: deux
3: trois
4: quatre
5: cinq
6: six
7: sept
8: huit
9: neuf
10: dix
11: onze
12: douze
13: treize
14: quatorze
15: quinze
16: seize
20: vingt vingts
30: trente
40: quarante
50: cinquante
60: soixante
70: septante
80: huitante
90: nonante
"""),
    "es": _numbers("""
0: cero
1: uno un una
2: dos
3: tres
4: cuatro
5: cinco
6: seis
7: siete
8: ocho
9: nueve
10: diez
11: once
12: doce
13: trece
14: catorce
15: quince
16: dieciséis
17: diecisiete
18: dieciocho
19: diecinueve
20: veinte
21: veintiuno veintiún veintiuna
22: veintidós
23: veintitrés
24: veinticuatro
25: veinticinco
26: veintiséis
27: veintisiete
28: veintiocho
29: veintinueve
30: treinta
40: cuarenta
50: cincuenta
60: sesenta
70: setenta
80: ochenta
90: noventa
200: doscientos doscientas
300: trescientos trescientas
400: cuatrocientos
500: quinientos quinientas
600: seiscientos
700: setecientos
800: ochocientos
900: novecientos
"""),
    "ar": _numbers("""
0: صفر
1: أحد إحدى
2: اثنان اثنين اثنتان اثنتين اثنا اثني اثنتا اثنتي
3: ثلاثة ثلاث
4: أربعة أربع
5: خمسة خمس
6: ستة ست
7: سبعة سبع
8: ثمانية ثماني ثمان
9: تسعة تسع
10: عشرة عشر
20: عشرون عشرين
30: ثلاثون ثلاثين
40: أربعون أربعين
50: خمسون خمسين
60: ستون ستين
70: سبعون سبعين
80: ثمانون ثمانين
90: تسعون تسعين
200: مئتان مئتين مائتان مائتين
300: ثلاثمئة ثلاثمائة
400: أربعمئة أربعمائة
500: خمسمئة خمسمائة
600: ستمئة ستمائة
700: سبعمئة سبعمائة
800: ثمانمئة ثمانمائة ثمانيمائة
900: تسعمئة تسعمائة
2000: ألفان ألفين
2000000: مليونان مليونين
2000000000: ملياران مليارين
"""),
    "hi": _numbers("""
1: एक
2: दो
3: तीन
4: चार
5: पाँच पांच
6: छह छः छे
7: सात
8: आठ
9: नौ
10: दस
11: ग्यारह
12: बारह
13: तेरह
14: चौदह
15: पंद्रह पन्द्रह
16: सोलह
17: सत्रह
18: अठारह अट्ठारह
19: उन्नीस
20: बीस
21: इक्कीस
22: बाईस
23: तेईस
24: चौबीस
25: पच्चीस
26: छब्बीस
27: सत्ताईस
28: अट्ठाईस अठाईस
29: उनतीस उन्तीस
30: तीस
31: इकतीस इकत्तीस
32: बत्तीस
33: तैंतीस
34: चौंतीस
35: पैंतीस
36: छत्तीस
37: सैंतीस
38: अड़तीस
39: उनतालीस
40: चालीस
41: इकतालीस
42: बयालीस
43: तैंतालीस
44: चौवालीस चवालीस
45: पैंतालीस
46: छियालीस
47: सैंतालीस
48: अड़तालीस
49: उनचास
50: पचास
51: इक्यावन
52: बावन
53: तिरपन
54: चौवन
55: पचपन
56: छप्पन
57: सत्तावन
58: अट्ठावन
59: उनसठ
60: साठ
61: इकसठ
62: बासठ
63: तिरसठ
64: चौंसठ
65: पैंसठ
66: छियासठ
67: सड़सठ
68: अड़सठ
69: उनहत्तर
70: सत्तर
71: इकहत्तर
72: बहत्तर
73: तिहत्तर
74: चौहत्तर
75: पचहत्तर
76: छिहत्तर
77: सतहत्तर
78: अठहत्तर
79: उन्यासी उनासी
80: अस्सी
81: इक्यासी
82: बयासी
83: तिरासी
84: चौरासी
85: पचासी
86: छियासी
87: सत्तासी
88: अट्ठासी
89: नवासी
90: नब्बे
91: इक्यानवे
92: बानवे
93: तिरानवे
94: चौरानवे
95: पचानवे पंचानवे
96: छियानवे
97: सत्तानवे
98: अट्ठानवे
99: निन्यानवे
"""),
}

MULTIPLIERS: Mapping[str, Mapping[str, int]] = {
    "en": _numbers("""
100: hundred
1000: thousand
1000000: million
1000000000: billion
1000000000000: trillion
"""),
    "de": _numbers("""
1000: tausend
1000000: million
1000000000: milliarde
1000000000000: billion
"""),
    "fr": _numbers("""
100: cent cents
1000: mille
1000000: million
1000000000: milliard
1000000000000: billion
"""),
    "es": _numbers("""
100: cien ciento cientos
1000: mil
1000000: millón millones
"""),
    "ar": _numbers("""
100: مئة مائة
1000: ألف آلاف ألفًا ألفا
1000000: مليون ملايين مليونًا مليونا
1000000000: مليار مليارات مليارًا مليارا
"""),
    "hi": _numbers("""
100: सौ
1000: हज़ार हजार
100000: लाख
10000000: करोड़
1000000000: अरब
100000000000: खरब
"""),
}

NO_COUNT = _words("""
एक أحد إحدى صفر अरब cero ein eine einem einen einer eins first one second un una une uno zero zéro
""")
"""Too often an article, a pronoun or a unit of time to count alone."""

SCALES: Mapping[str, int] = _numbers("""
3: k thousand tausend tsd mille mil 千 हज़ार हजार ألف آلاف
11: खरब
6: million millions mn mio millionen millón millones مليون ملايين मिलियन
9: بليون बिलियन billion billions bn milliard milliards milliarde milliarden mrd مليار مليارات अरब
12: 万亿 萬億 trillion trillions tn 兆
4: 万 萬
8: 亿 億
5: lakh lakhs लाख
7: crore crores करोड़
""")
"""Powers of ten behind a figure."""

LONG_SCALE: Mapping[str, Mapping[str, int]] = {
    "de": _numbers("""
12: billion billionen
"""),
    "fr": _numbers("""
12: billion billions
"""),
    "es": _numbers("""
12: billón billones
9: mil_millones
"""),
}

CURRENCIES: Mapping[str, str] = _table("""
usd: $ ＄ us$ usd dollar dollars dólares 美元 美金 米ドル ドル دولار डॉलर
usd: دولار_أمريكي دولار_أميركي دولارًا_أمريكيًا دولارات अमेरिकी_डॉलर
cent: cent cents سنت سنتات
eur: € eur euro euros 欧元 ユーロ يورو यूरो
gbp: £ gbp pounds_sterling 英镑 英ポンド
jpy: ¥ ￥ jpy yen 円 日元 日圆
cny: 元 人民币 人民元 块钱 元人民币 cny yuan rmb
inr: ₹ inr rupees रुपये रुपए रुपया रुपयों रु रु. रू rs rs. روبية روبيات
sar: ريال ريالات ريال_سعودي ريالًا_سعوديًا
aed: درهم دراهم درهم_إماراتي درهمًا_إماراتيًا
egp: جنيه جنيهات جنيه_مصري جنيهًا_مصريًا
gbp: جنيه_إسترليني جنيهًا_إسترلينيًا पाउंड पौंड
jpy: ين_ياباني येन
cny: يوان युआन
try: ليرة ليرة_تركية
paisa: पैसे पैसा
chf: chf franken francs 瑞士法郎 スイスフラン
hkd: hk$ 港元 港币
twd: nt$ 新台币 新臺幣 台币
mxn: pesos
krw: ₩ ウォン 韩元 韓元
rub: ₽ 卢布 ルーブル
dinar: dinars دينار دنانير دينار_كويتي
""")

UNITS: Mapping[str, str] = _table("""
%: % percent per_cent prozent pct pour_cent por_ciento ％ ٪ 百分之 パーセント प्रतिशत بالمئة بالمائة
%: في_المئة
pp: percentage_point percentage_points percentage-point percentage-points percent_points pp prozentpunkt prozentpunkte
pp: prozentpunkten %-punkte puntos_porcentuales 百分点 个百分点 個百分点
bp: basis_point basis_points basis-point basis-points bps basispunkte basispunkten puntos_básicos
‰: ‰ per_mille
°c: °c ℃ ° degrees grad degrés grados degrees_celsius degrés_celsius 度 درجة_مئوية درجة डिग्री
°c: डिग्री_सेल्सियस
°f: °f degrees_fahrenheit
mm: mm millimetre millimetres millimeter millimeters millimètres milímetros 毫米 ミリ ミリメートル
cm: cm centimetre centimetres centimeter centimeters zentimeter centimètres centímetros 厘米 センチ
cm: センチメートル سنتيمتر सेंटीमीटर
m: m metre metres meter meters mètre mètres metro metros 米 メートル متر أمتار मीटर
km: km kilometre kilometres kilometer kilometers kilomètre kilomètres kilómetro kilómetros 公里 千米
km: キロ キロメートル كيلومتر كم किलोमीटर किमी
mi: mi mile miles meilen milles millas 英里 マイル ميل मील
ft: ft foot feet pieds pies
in.: in. inch inches zoll pouces pulgadas 英寸
km²: km² sq_km square_kilometres square_kilometers quadratkilometer kilomètres_carrés
km²: kilómetros_cuadrados 平方公里 平方キロメートル كيلومتر_مربع वर्ग_किलोमीटर
m²: m² sqm square_metres square_meters quadratmeter mètres_carrés metros_cuadrados 平方米 平方メートル
m²: متر_مربع
ha: ha hectare hectares hektar hectáreas 公顷
acre: acre acres
g: g gram grams gramm gramme grammes gramos 克 グラム غرام جرام ग्राम
mg: mg milligram milligrams milligramm milligrammes miligramos 毫克 ミリグラム
kg: kg kilo kilos kilogram kilograms kilogramm kilogrammes kilogramos 公斤 千克 キログラム كيلوغرام كجم
kg: किलो किलोग्राम
lb: lb lbs pound pounds pfund livres libras 磅
t: t ton tons tonne tonnes tonnen toneladas 吨 トン طن टन
l: l liter liters litre litres litros 升 リットル لتر लीटर
ml: ml milliliter millilitre milliliters millilitres mililitros 毫升 ミリリットル
cl: cl centilitres
s: s sec second seconds sekunde sekunden seconde secondes segundo segundos 秒 秒間 ثانية सेकंड
ms: ms millisecond milliseconds millisekunden 毫秒
min: min minute minutes minuten minuto minutos 分钟 分間 دقيقة دقائق मिनट
h: h hr hrs hour hours stunde stunden heure heures hora horas 小时 時間 ساعة ساعات घंटे घंटा
day: day days tag tage tagen jour jours día días 天 日間 أيام يوم दिन दिनों
week: week weeks woche wochen semaine semaines semana semanas 周 週間 أسبوع أسابيع सप्ताह हफ़्ते
month: month months monat monate monaten mois mes meses 个月 か月 カ月 ヶ月 أشهر شهر महीने
year: year years jahr jahre jahren an ans année années año años 年间 年間 سنة سنوات عامًا साल वर्ष
km/h: km/h kph kmh stundenkilometer 时速
mph: mph
m/s: m/s
w: w watt watts
kw: kw kilowatt kilowatts
mw: mw megawatt megawatts
kwh: kwh kilowatt-hours kilowattstunden
gwh: gwh
v: v volt volts
hz: hz hertz
khz: khz kilohertz
mhz: mhz megahertz
ghz: ghz gigahertz
kb: kb kilobyte kilobytes
mb: mb megabyte megabytes
gb: gb gigabyte gigabytes 吉字节 जीबी
tb: tb terabyte terabytes
kcal: kcal calorie calories kalorien calorías
kj: kj
pa: pa pascal
hpa: hpa
bar: bar
db: db decibel decibels dezibel
nm: nm nanometre nanometres nanometer nanometers 纳米 ナノメートル
µm: µm micrometre micrometres
light-year: light-year light-years lichtjahre années-lumière años_luz 光年
pixel: pixel pixels
m³: m³ 立方米 立方メートル متر_مكعب أمتار_مكعبة घन_मीटर
km/h: 公里每小时 公里/小时 千米/小时 km/小时 キロメートル毎時
m/s: 米每秒 米/秒
h: 个小时 個小時 小時
min: 分鐘
s: 秒钟 秒鐘
day: 天间
month: ヵ月 箇月 個月 カ月間 か月間 ヶ月間 ヵ月間
week: 个星期 個星期 周间
%: بالمائه في_المائة فی_صد फ़ीसदी फ़ीसद परसेंट
pp: نقطة_مئوية نقاط_مئوية प्रतिशत_अंक
°c: درجات_مئوية درجات °م °مئوية डिग्री_सेंटीग्रेड
mm: ملم مم ميليمتر ملليمتر मिमी मिलीमीटर
cm: سم सेमी
m: أمتار मी
km: كيلومترات كيلو_متر कि.मी
mi: أميال
ft: قدم أقدام फ़ुट फ़ीट फुट फीट
in.: بوصة بوصات इंच
km²: كيلومترات_مربعة كم² كم_مربع वर्ग_किमी
m²: م² أمتار_مربعة वर्ग_मीटर
sqft: वर्ग_फ़ुट वर्ग_फुट
ha: هكتار هكتارات हेक्टेयर
feddan: فدان فدانًا أفدنة
acre: एकड़ فدّان
bigha: बीघा
g: غم जी_ग्राम
mg: ملغ ملغم مليغرام ملليجرام मिलीग्राम
kg: كغ كغم كلغ كيلوجرام كيلو كيلوغرامات किलो_ग्राम
quintal: क्विंटल कुंतल
t: أطنان
l: لترات ليتر
ml: مل مليلتر ملليلتر मिलीलीटर मिली
s: ثوان ثوانٍ ثواني सेकेंड सेकंडों
min: دقائق मिनटों
h: घंटों घण्टे
day: يومًا يوما
week: أسبوعا सप्ताहों हफ़्ता हफ्ते हफ्ता हफ़्तों हफ्तों
month: شهور شهرا माह महीना महीनों
year: عام أعوام سنين عاما सालों वर्षों बरस
century: قرون
km/h: كم/ساعة كيلومترًا_في_الساعة كيلومتر_في_الساعة كم_في_الساعة किमी/घंटा किमी_प्रति_घंटा
km/h: किलोमीटर_प्रति_घंटा किमी_प्रति_घंटे किलोमीटर_प्रति_घंटे
kw: كيلوواط किलोवाट
mw: ميغاواط ميجاوات मेगावाट
w: واط وات वाट
v: فولت वोल्ट
mb: ميغابايت ميجابايت एमबी
gb: غيغابايت جيجابايت गीगाबाइट
tb: تيرابايت टीबी
bbl: برميل براميل बैरल
kcal: سعرة_حرارية سعرات_حرارية कैलोरी
century: 个世纪 個世紀 世紀間
ha: ヘクタール
kw: 千瓦 キロワット
w: 瓦特 ワット
mw: 兆瓦 メガワット
kwh: 千瓦时 キロワット時
v: 伏特 ボルト
hz: 赫兹 ヘルツ
kcal: 千卡 大卡 卡路里 キロカロリー カロリー
db: 分贝 デシベル
in.: インチ
ft: 英尺 フィート
yd: ヤード
nmi: 海里
oz: 盎司 オンス
gal: 加仑 ガロン
bbl: バレル
kn: ノット
tsubo: 坪
µm: 微米 マイクロメートル ミクロン
mb: 兆字节 メガバイト
gb: ギガバイト
tb: 太字节 テラバイト
pixel: 像素 画素 ピクセル
°c: 摄氏度 攝氏度
""")

PARTICLES: Mapping[str, frozenset[str]] = {
    "en": frozenset(
        _table("""
in: of of_the the upon for de de_la de_las de_los del da dos di du van van_der van_den van_de von von_der zu
in: bin ibn bint al el la le ten ter
""")
    ),
    "de": frozenset(_table("in: von von_der von_den vom zu zur van van_der van_den de der di da bin ibn an_der am im")),
    "fr": frozenset(_table("in: de de_la du des de_l d le la les van van_der von bin ibn el al lès")),
    "es": frozenset(_table("in: de de_la de_las de_los del la las los el van von bin ibn al da di")),
}
"""Small words that join capitalised ones to one name."""

BEFORE_MONTHS = _words("""
in of by until till since from to last next early late this every mid through during between before after around and en
في من حتى منذ إلى شهر بين de im seit bis ab am desde hasta depuis jusqu au
""")
"""What makes a month of a doubtful word behind it."""

BEFORE_PLACES = _words("in aus nach bei bis von")
"""German: a lone capitalised word behind one of these is a name."""

LEADING_PARTICLES = ("van der", "van den", "van de", "van", "bin", "ibn")
"""Small words that can only begin a name, so they belong to one that follows."""

HONORIFICS = _words("""
don doña dr dra fr frau herr hon hr ing m mag me messrs mlle mme mr mrs ms mx prof rev sr sra srta
""")
"""Left out of names when abbreviated (Sr. before a name; after one it belongs to it)."""

ABBREVIATIONS = _words("""
capt co col corp ft gen inc jr lt ltd mt sgt sr st
""")
"""Words inside names whose full stop does not end them."""

STARTERS: Mapping[str, frozenset[str]] = {
    "en": _words("""
a about above according across actually add additionally after afterward afterwards against ago all almost along
also although amid among an and another answer any approximately are around as ask at be because been before
behind being below beneath beside besides between beyond born both bring but by call called can certainly check
children choose clearly click conclusion could critics currently dear despite did do doctors does down during
each earlier early eight either elsewhere especially even eventually every exactly example except experts fans
few finally find first five follow for fortunately four from further furthermore generally get give go good
great had half has have he hello hence her here hi his how however i i'd i'll i'm i've if in indeed initially
inside install instead interestingly into introduction is it it's its just keep known last late later lest let
let's like mainly make many maybe meanwhile members men might mix more moreover most mostly much must my named
near nearly neither net never nevertheless next nine no none nonetheless nor not notably note nothing now
nowadays obviously of off officials often ok okay on once one only onto open or originally other others
otherwise our out outside over overall particularly past people per perhaps please police possibly press
probably put question rather read recently regarding remember researchers result results roughly round run same
scientists second see select selon set seven several shall she shortly should similarly simply since six so some
sometimes soon specifically start step still stop students subsequently such summary sure surprisingly take
teachers tell ten than thanks that the their then there therefore these they third this those though three
through throughout thus to today together tomorrow too total toward towards try turn two type under underneath
unfortunately unless unlike until up update upon us use using usually versus very via visit was we well were
what when whenever where whereas wherever whether which while who whoever whom whose why will with within
without women would write yes yesterday yet you your
"""),
    "de": _words("""
aber alle allerdings als am an andere auch auf aus bei beide bereits bis da dabei dadurch dafür daher damit
danach dann das dem den der des deshalb die dies diese dieser dieses doch dort du durch ein eine einem einen
einer eines einige er es etwa für gegen gemäß hat hatte heute hier hinter ich ihr ihre im in ins ist jede jeder
jedes jedoch kann kein keine laut man manche mehr mit nach nachdem neben nicht noch nun nur ob obwohl oder ohne
schon sehr sein seine seit sie sind so sogar sowie später trotz um und unter viele vom von vor wann war waren
warum was wegen weil welche wenn wer wie wir wird wo wurde während zu zudem zuerst zum zur zwar zwischen über
"""),
    "fr": _words("""
a ainsi ajoutez alors appelez après au aucun aujourd aussi aux avait avant avec bonjour c car ce cependant
certaines certains ces cet cette chaque chez cliquez comment d dans de depuis des deux donc dont du elle elles
en enfin ensuite entre est et faites grâce hui il ils installez j je l la le les leur leurs lors lorsque ma mais
malgré mes mettez mon mélangez même n ne ni non notre nous on ont or ou oui ouvrez où par pas pendant plusieurs
pour pourquoi prenez puis qu quand quatre que quelques qui quoi remplacez s sa sans selon ses si son sont sous
sur tous tout toute toutefois toutes trois très tu un une vers versez voici voilà votre vous vérifiez à étaient
était
"""),
    "es": _words("""
a abra además al algunas algunos allí ante antes aquel aquí así aunque ayer añada bajo cada como con cuando
cuatro cuál cuáles cuándo cómo de debido del desde después donde dos durante dónde e el ella ellas ellos en
entonces entre era eran es esa esas ese esos esta estas este estos fue fueron gracias ha había han hasta hola
hoy instale la las le les llame lo los luego me menos mezcle mi mientras mis muchas muchos muy más ni no nos
nosotros nunca o otra otro otros para pero ponga por porque pues que quién qué sabías se según si siempre sin
sino sobre son su sus sí también te toda todas todo todos tras tres tu tus u un una unas unos usted ustedes
varios y ya yo él
"""),
}
"""Ordinary words that begin a sentence, or follow one that does, and so are no part of a name there."""

VERBS_AFTER_NAMES = _words("""
acquired announced appeared argued asked attended beat became began believed borders bought built called came
claimed closed composed created defeated designed developed died directed discovered earned employs found
founded gave got graduated grew had has held introduced invented is joined launched led left lies lived lost
made married met moved named opened owned owns paid painted played plays produced published ran received
recorded released reported retired returned runs said sang says scored served signed sold spent starred studied
taught told took traveled travelled visited was went won worked writes wrote
""")
"""English: after these, a lone capitalised word at the beginning is a name unless it looks like an ordinary noun."""

ORDINARY_NOUNS = _words("""
anyone anything art attendance biology bread breakfast butter carbon chemistry coffee construction dad demand
dinner education energy everybody everyone everything evidence filming flour food glass gold growth half heat
history hydrogen income inflation iron language law life light love lunch mathematics medicine milk mom money
music nature nitrogen nobody nothing oil oxygen paper part peace physics plastic power production profit rain
research revenue salt science silver sleep snow somebody someone something steel sugar supply tea time trade
traffic training turnout voting war water weather wood work yeast
""")

COUNTERS = (
    "人名个個只隻本回章年月日岁歳次条條座家台辆輛張张页頁米公里克斤公斤吨升度分秒点點"
    "时時万億亿元块层楼级位件种種篇首部集场場届屆倍枚冊匹頭杯軒円つ卷巻册款支枝根颗粒滴对對双雙副套样樣口羽尾株棵束"
    "堆组組排列行队班批代期号號版遍趟声步栋棟幢间間所院处處县市省州国國门門科轮輪盘局节節课幕季段句字词筆笔画道题題项"
    "項碗瓶罐盒箱包袋桶壶壺把封份户戶艘架脚面块塊具则則例起阶階曲話番着歩折票球胜余多勝负敗戦戰试試"
)
"""What follows a Chinese numeral that counts something."""

LONG_COUNTERS = (
    "か所",
    "ヶ所",
    "カ所",
    "ヵ所",
    "箇所",
    "か国",
    "ヶ国",
    "カ国",
    "ヵ国",
    "か条",
    "種類",
    "学期",
    "车道",
    "周年",
)

NO_COUNT_NEXT: Mapping[str, str] = {"人": "称稱三", "本": "来木", "国": "志演时時", "轮": "车", "字": "架", "面": "镜"}
"""What undoes a counter that stands before it: 三人称."""

NOT_NUMERALS = _words("""
万一 千万别 千万不 千万要 十分 十足 百分百 三国 三國 四国 四季 三轮 三輪 六本木 九州
三重県 三重県 千葉 八王子 二胡 十字 百科 百姓 百货 百貨 千禧 三角 四川 三亚 三明治 三文鱼
五金 九寨 八达岭 七夕 五官 四方 五彩 八卦 九龙 二手 二维码 二次元 四合院 五星 三峡 二酸化
一酸化 五輪 二人三脚 三日月 四六時中 八百屋 万年筆 百円ショップ 三脚 七五三 十人十色 二枚目
三枚目 十八番 四面八方 五花八门 三心二意 七上八下 一石二鸟 千方百计 三三两两 五颜六色 乱七八糟
不三不四 丢三落四 四分五裂 九牛一毛 十全十美 百花 百万富翁 第一次世界大战 第二次世界大战
第一次世界大戦 第二次世界大戦 第二天 第三者 第三世界 两者 两旁 两侧 两岸 两边 两面 八方
七転び八起き 一日三秋 二日酔い 三日坊主 五十音 五十嵐 九十九里 千代田 三鷹 三井 三菱 四日市
二条城 三条 四条 五条 八幡 八重 十六夜 千羽鶴 万里の長城 万里长城 三寒四温 二十四节气
二十四節気 三省堂 四谷 二子玉川 五反田 八丁堀 千島 千歳 三宅 三浦 三島 三木 二宮 五島 六甲
七味 八宝 八角 九官鳥
""")
"""Words and names with numerals in them that count nothing."""

NO_UNIT_BEFORE: Mapping[str, frozenset[str]] = {
    unit: frozenset(after)
    for unit, after in {
        "年": "级級生目度代版式次轮",
        "日": "目本元語语",
        "分": "の割類类析野岐布裂解担散配別别離离厘子之数",
        "度": "目数數合々假",
        "周": "年岁歳围边期刊末知",
        "週": "年刊末目",
        "成": "立为為功长長员員果分年人本绩績都語语品熟就份交型形",
        "割": "り合れら愛",
        "元": "素件年の旦首気气々来宵老祖",
        "米": "饭国軍兵粉線线其兰奇色粒国",
        "時間": "目割帯外",
        "秒": "速杀针針",
        "円": "形柱周卓",
        "ポイント": "カード",
        "里": "程面",
        "克": "拉服",
        "升": "级學学降",
    }.items()
}
"""What follows a word that is no unit then: 3年生 counts no years."""

TENTHS = _words("割 成")
"""3割 and 三成 are 30 %."""

DAY_PARTS: Mapping[str, str] = _table("""
am: 上午 早上 早晨 清晨 凌晨 午前 朝 未明 早朝 明け方 清早
pm: 下午 傍晚 午後 午后 夕方 黄昏
night: 晚上 夜里 夜裡 夜间 半夜 深夜 午夜 夜 今夜 晚间 夜間
noon: 中午 昼 正午 お昼
""")
"""Parts of the day before an hour, and what they make of it."""

ERAS: Mapping[str, int] = _numbers("""
1868: 明治
1912: 大正 民国 民國
1926: 昭和
1989: 平成
2019: 令和
1865: 慶応
1854: 安政
1830: 天保
1818: 文政
1804: 文化
1716: 享保
1688: 元禄
1624: 寛永
1596: 慶長
1662: 康熙
1723: 雍正
1736: 乾隆
1796: 嘉庆 嘉慶
1821: 道光
1851: 咸丰 咸豐
1862: 同治
1875: 光绪 光緒
1909: 宣统 宣統
1368: 洪武
1403: 永乐 永樂
1573: 万历 萬曆
1628: 崇祯 崇禎
1522: 嘉靖
627: 贞观 貞觀
713: 开元 開元
742: 天宝 天寶
""")
"""The first years of eras, by the Gregorian calendar."""

OWN_UNITS: Mapping[str, Mapping[str, str]] = {
    "ja": _table("""
min: 分
day: 日
year: 年
°c: 度
pp: ポイント
gbp: ポンド
km: キロ
month: 月
"""),
    "zh": _table("""
year: 年
day: 日
°c: 度 摄氏度 攝氏度
cny: ¥ ￥
lb: 磅
jin: 斤 市斤
mu: 亩 畝
li: 里 华里
h: 个小时 個小時 小時 钟头 个钟头
week: 个星期 星期 個星期 礼拜 个礼拜
"""),
}
"""Units that are words of other kinds in other languages."""

NO_LATIN_NAMES = _words("ok vs etc no tel fax km cm mm kg mg ml app pm am x y ppt pdf wifi cd dvd tv")
"""Latin letters in other scripts that name nothing."""

HINDI_DAY_PARTS: Mapping[str, str] = _table("""
am: सुबह तड़के भोर सवेरे प्रातः
pm: शाम सायं
night: रात
noon: दोपहर
""")

HINDI_ORDINALS: Mapping[str, int] = _numbers("""
1: पहली पहला पहले
2: दूसरी दूसरा दूसरे
3: तीसरी तीसरा तीसरे
4: चौथी चौथा चौथे
6: छठी छठा छठे छठवीं छठवाँ छठवां
""")
"""Those that do not end in वाँ."""

ARABIC_DAY_PARTS: Mapping[str, str] = _table("""
am: صباحًا صباحا صباحاً ص فجرًا فجرا فجراً
pm: مساءً مساء م عصرًا عصرا عصراً بعد_الظهر
night: ليلًا ليلا ليلاً
noon: ظهرًا ظهرا ظهراً
""")

ARABIC_ORDINALS: Mapping[str, int] = _numbers("""
1: الأول الأولى الاول الحادي الحادية الواحدة
2: الثاني الثانية
3: الثالث الثالثة
4: الرابع الرابعة
5: الخامس الخامسة
6: السادس السادسة
7: السابع السابعة
8: الثامن الثامنة
9: التاسع التاسعة
10: العاشر العاشرة
20: العشرون العشرين
30: الثلاثون الثلاثين
""")

ARABIC_DECADES: Mapping[str, int] = _numbers("""
20: عشرينيات عشرينات العشرينيات العشرينات
30: ثلاثينيات ثلاثينات الثلاثينيات الثلاثينات
40: أربعينيات أربعينات الأربعينيات الأربعينات
50: خمسينيات خمسينات الخمسينيات الخمسينات
60: ستينيات ستينات الستينيات الستينات
70: سبعينيات سبعينات السبعينيات السبعينات
80: ثمانينيات ثمانينات الثمانينيات الثمانينات
90: تسعينيات تسعينات التسعينيات التسعينات
""")

HIJRI_MONTHS: Mapping[str, int] = _numbers("""
1: محرم المحرم
2: صفر
3: ربيع_الأول
4: ربيع_الآخر ربيع_الثاني
5: جمادى_الأولى
6: جمادى_الآخرة جمادى_الثانية
7: رجب
8: شعبان
9: رمضان
10: شوال
11: ذو_القعدة ذي_القعدة
12: ذو_الحجة ذي_الحجة
""")

ARABIC_FRACTIONS: Mapping[str, int] = _numbers("""
23: ثلثي ثلثا ثلثان ثلثين الثلثين
34: ثلاثة_أرباع
45: أربعة_أخماس
35: ثلاثة_أخماس
25: خمسي خمسا
""")
"""34 stands for three quarters."""

HINDI_HALVES: Mapping[str, int] = _numbers("""
2: साढ़े
1: सवा
-1: पौने
""")
"""Quarters that these add to the number behind them."""

HINDI_PARTS: Mapping[str, int] = _numbers("""
3: तिहाई
4: चौथाई
5: पंचमांश
""")
"""The parts that fractions are made of."""

YEAR_BEFORE = _words(
    "عامي سنتي عامَي أعوام عام سنة العام السنة لعام وعام في منذ حتى بين قبل بعد و إلى सन सन् वर्ष साल ईस्वी"
)
"""Arabic and Hindi: before a figure of four digits these make it a year."""

YEAR_AFTER = _words("में का की के से तक को ई ईस्वी वाला वाली वाले और")
"""Hindi: so do these behind it."""
