package dataset

import "strings"

var english = &locale{
	female: people{first: strings.Fields(englishFemale), last: strings.Fields(englishLast), pronoun: "She"},
	male:   people{first: strings.Fields(englishMale), last: strings.Fields(englishLast), pronoun: "He"},
	cities: strings.Split(englishCities, ","),
	biography: biography{
		sentence: func(p people, city, work, hobby, hobby2 string) string {
			return "Born in " + city + ", works as " + work + ". " + p.pronoun + " enjoys " + hobby + " and " + hobby2 + "."
		},
		works: strings.Split(englishWorks, ","), hobbies: strings.Split(englishHobbies, ","),
	},
}

const englishFemale = `Abigail Ada Alice Amanda Amelia Amy Angela Anna Audrey Barbara Beatrice Bridget Brenda Caroline
Catherine Charlotte Chloe Clara Daisy Deborah Diana Dorothy Edith Eleanor Elizabeth Ella Emily Emma Esther Eva Faith
Florence Frances Grace Hannah Harriet Hazel Helen Irene Isabel Ivy Jane Janet Jessica Joan Josephine Julia Karen
Katherine Laura Lillian Linda Louise Lucy Margaret Martha Mary Matilda Megan Molly Nancy Nora Olivia Pamela Penelope
Rachel Rebecca Rose Ruth Samantha Sarah Sophia Susan Victoria Violet`

const englishMale = `Aaron Adam Alan Albert Alexander Andrew Anthony Arthur Benjamin Bernard Brian Bruce Caleb Charles
Christopher Clifford Colin Daniel David Dennis Douglas Edgar Edmund Edward Eric Ethan Felix Francis Frank Frederick
George Gerald Gilbert Gordon Graham Gregory Harold Harry Henry Howard Hugh Isaac Jack Jacob James Jeffrey John Jonathan
Joseph Joshua Keith Kenneth Lawrence Leonard Lewis Luke Mark Martin Matthew Michael Nathan Nicholas Oliver Oscar Patrick
Paul Peter Philip Ralph Raymond Richard Robert Samuel Simon Stephen`

const englishLast = `Abbott Adams Allen Anderson Andrews Archer Armstrong Arnold Atkins Bailey Baker Baldwin Barker Barnes
Barrett Bates Baxter Bell Bennett Berry Bishop Black Blake Bolton Bowen Boyd Bradley Brooks Brown Bryant Burgess Burke
Burns Burton Butler Byrne Campbell Carpenter Carr Carroll Carter Chambers Chandler Chapman Clark Clarke Cole Coleman
Collins Conway Cook Cooper Craig Crawford Cross Cunningham Curtis Dalton Davidson Davies Davis Dawson Day Dean Dixon
Douglas Doyle Duncan Dunn Edwards Elliott Ellis Evans Farmer Ferguson Fisher Fitzgerald Fleming Fletcher Ford Foster Fox
Francis Franklin Fraser Freeman French Fuller Gardner Gibson Gilbert Gordon Graham Grant Gray Green Griffin Griffiths
Hall Hamilton Hammond Hardy Harper Harris Harrison Hart Harvey Hayes Henderson Hicks Higgins Hill Hodgson Holland Holmes
Hopkins Howard Hudson Hughes Hunter Hutchinson Jackson Jacobs James Jenkins Jennings Johnson Jones Jordan Kelly Kennedy
King Knight Lambert Lane Lawson Lee Lewis Lloyd Long Lowe Lynch Marsh Marshall Martin Mason Matthews May Miller Mills
Mitchell Moore Morgan Morris Murphy Murray Nelson Newman Newton Nicholson Norris Oliver Osborne Owen Palmer Parker
Parsons Patterson Payne Pearson Perkins Perry Phillips Porter Potter Powell Price Read Reynolds Richards Richardson
Roberts Robinson Rogers Rose Ross Russell Ryan Sanders Saunders Schofield Scott Shaw
Simpson Spencer Stone Sutton Taylor Thompson Turner Walker Ward Watson Webb West White Wilkinson Wood Wright`

const englishCities = `Aberdeen,Adelaide,Albany,Atlanta,Auckland,Austin,Baltimore,Bath,Belfast,Birmingham,Boston,` +
	`Brighton,Brisbane,Bristol,Buffalo,Calgary,Cambridge,Canberra,Cardiff,Charlotte,Chicago,Christchurch,Cleveland,` +
	`Columbus,Cork,Coventry,Dallas,Darwin,Denver,Derby,Detroit,Dublin,Dundee,Edinburgh,Edmonton,Exeter,Galway,Glasgow,` +
	`Halifax,Hamilton,Houston,Inverness,Leeds,Leicester,Limerick,Liverpool,London,Manchester,Melbourne,Montreal,` +
	`New York,Newcastle,Norwich,Nottingham,Ottawa,Oxford,Perth,Philadelphia,Phoenix,Plymouth,Portland,Sheffield`

const englishWorks = `an accountant,an architect,a baker,a bookseller,a carpenter,a chemist,a cook,a dentist,an editor,` +
	`an electrician,a farmer,a gardener,a geologist,a journalist,a lawyer,a librarian,a mechanic,a musician,a nurse,` +
	`a photographer,a pilot,a programmer,a surveyor,a teacher,a translator,a vet`

const englishHobbies = `baking bread,board games,chess,choir singing,climbing,crosswords,cycling,dancing,drawing,` +
	`fishing,gardening,hiking,jazz,knitting,long walks,old films,painting,photography,poetry,pottery,rowing,running,` +
	`sailing,skiing,stargazing,swimming,tennis,theatre`
