package dataset

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func dataset(t testing.TB, seed int64, locale string) *Dataset {
	t.Helper()
	d, err := New(seed, locale)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Rows that have once been seeded must stay comparable: a change here is a change of every published figure.
func TestUsersOfASeedNeverChange(t *testing.T) {
	for _, c := range []struct {
		locale string
		index  int64
		want   User
	}{
		{"en", 1, User{"Pamela", "Butler", "1993-07-23", "Born in New York, works as a lawyer. She enjoys old films and chess.", "Atlanta"}},
		{"en", 1_000_000, User{"Bernard", "Kennedy", "1966-08-24", "Born in Boston, works as a carpenter. He enjoys poetry and running.", "Hamilton"}},
		{"ru", 1, User{"Серафима", "Вишневская", "1993-07-23", "Родилась в городе Тамбов. Профессия: механик. Увлечения: поэзия, вышивание.", "Барнаул"}},
		{"ru", 1_000_000, User{"Афанасий", "Миронов", "1966-08-24", "Родился в городе Волгоград. Профессия: бухгалтер. Увлечения: рыбалка, танцы.", "Пермь"}},
	} {
		if diff := cmp.Diff(c.want, dataset(t, 1, c.locale).User(c.index)); diff != "" {
			t.Errorf("user %d of seed 1 in %s (-want +got):\n%s", c.index, c.locale, diff)
		}
	}
}

func TestUserDoesNotDependOnTheOrderOfCalls(t *testing.T) {
	d := dataset(t, 7, "ru")
	var want []User
	for i := range 500 {
		want = append(want, d.User(int64(i)))
	}
	for _, i := range rand.Perm(500) {
		if got := dataset(t, 7, "ru").User(int64(i)); got != want[i] {
			t.Fatalf("user %d is %+v when asked out of order, %+v in order", i, got, want[i])
		}
	}
}

func TestSeedsAndNeighboursDiffer(t *testing.T) {
	seen := map[User]string{}
	for seed := range int64(20) {
		d := dataset(t, seed, "en")
		for i := range int64(500) {
			u := d.User(i)
			if before, ok := seen[u]; ok {
				t.Fatalf("user %d of seed %d is also %s: %+v", i, seed, before, u)
			}
			seen[u] = "one of seed " + string(rune('0'+seed))
		}
	}
}

func TestUsersFitTheTable(t *testing.T) {
	for _, locale := range []string{"en", "ru"} {
		d := dataset(t, 3, locale)
		for i := range int64(20_000) {
			u := d.User(i)
			for column, length := range map[string]int{u.FirstName: 256, u.LastName: 256, u.City: 256, u.Biography: 1024} {
				if n := utf8.RuneCountInString(column); n < 1 || n > length || strings.ContainsAny(column, "\t\n\\") {
					t.Fatalf("%s user %d has the value %q", locale, i, column)
				}
			}
			if born, err := time.Parse(time.DateOnly, u.Birthdate); err != nil || born.Year() < 1945 || born.Year() > 2004 {
				t.Fatalf("%s user %d was born on %q", locale, i, u.Birthdate)
			}
		}
	}
}

func TestRussianNamesAgreeInGender(t *testing.T) {
	d := dataset(t, 5, "ru")
	women := 0
	for i := range int64(5_000) {
		u := d.User(i)
		female := slices.Contains(russian.female.first, u.FirstName)
		if female {
			women++
		}
		feminine, masculine := slices.Contains(russian.female.last, u.LastName), slices.Contains(russian.male.last, u.LastName)
		if female && !feminine || !female && !masculine {
			t.Fatalf("%s %s", u.FirstName, u.LastName)
		}
		if female != strings.HasPrefix(u.Biography, "Родилась ") {
			t.Fatalf("%s: %s", u.FirstName, u.Biography)
		}
	}
	if women < 2_000 || women > 3_000 {
		t.Fatalf("%d of 5,000 are women", women)
	}
}

func TestFeminineForm(t *testing.T) {
	for masculine, want := range map[string]string{
		"Иванов": "Иванова", "Медведев": "Медведева", "Соловьёв": "Соловьёва", "Пушкин": "Пушкина", "Синицын": "Синицына",
		"Раевский": "Раевская", "Левицкий": "Левицкая", "Белый": "Белая", "Толстой": "Толстая", "Шевченко": "Шевченко",
		"Черных": "Черных",
	} {
		if got := feminineForm(masculine); got != want {
			t.Errorf("%s became %s, want %s", masculine, got, want)
		}
	}
}

func TestListsHoldDistinctNamesOfOneScript(t *testing.T) {
	for _, c := range []struct {
		name    string
		list    []string
		minimum int
		script  *unicode.RangeTable
	}{
		{"English first names", append(slices.Clone(english.female.first), english.male.first...), 150, unicode.Latin},
		{"English last names", english.male.last, 200, unicode.Latin},
		{"English cities", english.cities, 60, unicode.Latin},
		{"Russian first names", append(slices.Clone(russian.female.first), russian.male.first...), 150, unicode.Cyrillic},
		{"Russian masculine last names", russian.male.last, 200, unicode.Cyrillic},
		{"Russian feminine last names", russian.female.last, 200, unicode.Cyrillic},
		{"Russian cities", russian.cities, 60, unicode.Cyrillic},
	} {
		sorted := slices.Clone(c.list)
		slices.Sort(sorted)
		if len(slices.Compact(sorted)) != len(c.list) {
			t.Errorf("%s: a name stands twice", c.name)
		}
		if len(c.list) < c.minimum {
			t.Errorf("%s: %d, want at least %d", c.name, len(c.list), c.minimum)
		}
		for _, name := range c.list {
			for _, r := range name {
				if unicode.IsLetter(r) && !unicode.Is(c.script, r) {
					t.Errorf("%s: %q has the letter %q of another script", c.name, name, r)
				}
			}
		}
	}
}

func TestPrefixesFindTheirUser(t *testing.T) {
	for _, locale := range []string{"en", "ru"} {
		d := dataset(t, 2, locale)
		for i, p := range d.Prefixes(200) {
			u := d.User(int64(i) + 1)
			if !strings.HasPrefix(u.FirstName, p[0]) || !strings.HasPrefix(u.LastName, p[1]) {
				t.Fatalf("prefixes %q do not find user %d, %s %s", p, i+1, u.FirstName, u.LastName)
			}
			if p[0] == "" || p[1] == "" || utf8.RuneCountInString(p[1]) > lastNamePrefix {
				t.Fatalf("prefixes are %q", p)
			}
		}
	}
}

func TestNewRefusesAnUnknownLocale(t *testing.T) {
	if _, err := New(1, "de"); err == nil || !strings.Contains(err.Error(), "en or ru") {
		t.Fatalf("error is %v", err)
	}
}

func BenchmarkUser(b *testing.B) {
	d := dataset(b, 1, "ru")
	for i := range b.N {
		d.User(int64(i))
	}
}
