/** The texts of the owner's web flow. `{brand}` stands for the brand. */
const en = {
  step: 'Step {step} of 3',
  whichBrand: 'Which brand is your inverter?',
  brand: 'Inverter brand',
  oneBrand: 'Inverters of another brand need a link of their own.',
  byHand: 'comes online by a button of the sandbox',
  next: 'Continue',
  signInAt: 'Sign in at {brand}',
  email: 'Email address',
  password: 'Password',
  anything: 'This is a sandbox. Any text works, and nothing is stored.',
  signIn: 'Sign in',
  back: 'Choose another brand',
  permissions: 'Allow monitoring and curtailment',
  installations: 'Your installations at {brand}',
  roof: 'House roof',
  garage: 'Garage',
  shed: 'Garden shed',
  allowed: 'What you allow',
  monitoring: 'Reading how much these inverters produce',
  curtailment: 'Reducing their production when that is needed',
  allow: 'Allow',
  thanks: 'Thank you, that is all',
  done: 'You have allowed monitoring and curtailment of your installation.',
  wait: 'It can take a while until the installation is connected. You can close this page.',
  closed: 'This link is not valid',
  ask: 'It is unknown here, or its time is over. Ask your energy supplier for a new link.',
  needsBrand: 'Choose the brand of your inverter.',
  needsSignIn: 'Enter an email address and a password.',
  needsInstallation: 'Choose at least one installation.',
  needsBoth: 'Both permissions are needed.',
};

export type Texts = Readonly<typeof en>;

const nl: Texts = {
  step: 'Stap {step} van 3',
  whichBrand: 'Van welk merk is uw omvormer?',
  brand: 'Merk van de omvormer',
  oneBrand: 'Omvormers van een ander merk hebben een eigen link nodig.',
  byHand: 'komt online door een knop van de testomgeving',
  next: 'Verder',
  signInAt: 'Inloggen bij {brand}',
  email: 'E-mailadres',
  password: 'Wachtwoord',
  anything: 'Dit is een testomgeving. Elke tekst werkt, en er wordt niets bewaard.',
  signIn: 'Inloggen',
  back: 'Ander merk kiezen',
  permissions: 'Uitlezen en terugregelen toestaan',
  installations: 'Uw installaties bij {brand}',
  roof: 'Dak van het huis',
  garage: 'Garage',
  shed: 'Tuinhuis',
  allowed: 'Wat u toestaat',
  monitoring: 'Uitlezen hoeveel deze omvormers opwekken',
  curtailment: 'Hun opwek verlagen wanneer dat nodig is',
  allow: 'Toestaan',
  thanks: 'Bedankt, dat is alles',
  done: 'U hebt het uitlezen en terugregelen van uw installatie toegestaan.',
  wait: 'Het kan even duren tot de installatie is aangesloten. U kunt deze pagina sluiten.',
  closed: 'Deze link is niet geldig',
  ask: 'De link is hier onbekend of verlopen. Vraag uw energieleverancier om een nieuwe.',
  needsBrand: 'Kies het merk van uw omvormer.',
  needsSignIn: 'Vul een e-mailadres en een wachtwoord in.',
  needsInstallation: 'Kies ten minste één installatie.',
  needsBoth: 'Beide toestemmingen zijn nodig.',
};

const fr: Texts = {
  step: 'Étape {step} sur 3',
  whichBrand: 'De quelle marque est votre onduleur ?',
  brand: 'Marque de l’onduleur',
  oneBrand: 'Pour des onduleurs d’une autre marque, il faut un autre lien.',
  byHand: 'mise en ligne par un bouton de l’environnement de test',
  next: 'Continuer',
  signInAt: 'Connexion chez {brand}',
  email: 'Adresse e-mail',
  password: 'Mot de passe',
  anything: 'Ceci est un environnement de test. Tout texte convient, et rien n’est conservé.',
  signIn: 'Se connecter',
  back: 'Choisir une autre marque',
  permissions: 'Autoriser la lecture et la réduction',
  installations: 'Vos installations chez {brand}',
  roof: 'Toit de la maison',
  garage: 'Garage',
  shed: 'Abri de jardin',
  allowed: 'Ce que vous autorisez',
  monitoring: 'Lire la production de ces onduleurs',
  curtailment: 'Réduire leur production si nécessaire',
  allow: 'Autoriser',
  thanks: 'Merci, c’est tout',
  done: 'Vous avez autorisé la lecture et la réduction de votre installation.',
  wait: 'La connexion de l’installation peut prendre un certain temps. Vous pouvez fermer cette page.',
  closed: 'Ce lien n’est pas valable',
  ask: 'Il est inconnu ici, ou il a expiré. Demandez un nouveau lien à votre fournisseur d’énergie.',
  needsBrand: 'Choisissez la marque de votre onduleur.',
  needsSignIn: 'Saisissez une adresse e-mail et un mot de passe.',
  needsInstallation: 'Choisissez au moins une installation.',
  needsBoth: 'Les deux autorisations sont nécessaires.',
};

const de: Texts = {
  step: 'Schritt {step} von 3',
  whichBrand: 'Von welcher Marke ist Ihr Wechselrichter?',
  brand: 'Marke des Wechselrichters',
  oneBrand: 'Wechselrichter einer anderen Marke brauchen einen eigenen Link.',
  byHand: 'geht durch eine Taste der Testumgebung online',
  next: 'Weiter',
  signInAt: 'Anmelden bei {brand}',
  email: 'E-Mail-Adresse',
  password: 'Passwort',
  anything: 'Dies ist eine Testumgebung. Jeder Text genügt, und nichts wird gespeichert.',
  signIn: 'Anmelden',
  back: 'Andere Marke wählen',
  permissions: 'Auslesen und Abregeln erlauben',
  installations: 'Ihre Anlagen bei {brand}',
  roof: 'Hausdach',
  garage: 'Garage',
  shed: 'Gartenhaus',
  allowed: 'Was Sie erlauben',
  monitoring: 'Auslesen, wie viel diese Wechselrichter erzeugen',
  curtailment: 'Ihre Erzeugung verringern, wenn es nötig ist',
  allow: 'Erlauben',
  thanks: 'Danke, das ist alles',
  done: 'Sie haben das Auslesen und Abregeln Ihrer Anlage erlaubt.',
  wait: 'Es kann dauern, bis die Anlage verbunden ist. Sie können diese Seite schließen.',
  closed: 'Dieser Link ist nicht gültig',
  ask: 'Er ist hier unbekannt oder abgelaufen. Bitten Sie Ihren Energieversorger um einen neuen.',
  needsBrand: 'Wählen Sie die Marke Ihres Wechselrichters.',
  needsSignIn: 'Geben Sie eine E-Mail-Adresse und ein Passwort ein.',
  needsInstallation: 'Wählen Sie mindestens eine Anlage.',
  needsBoth: 'Beide Erlaubnisse sind nötig.',
};

const TEXTS: Readonly<Record<string, Texts>> = { en, nl, fr, de };

/** A language of the flow, with its texts. */
export interface Language {
  readonly lang: string;
  readonly texts: Texts;
}

/** Returns the first language of `Accept-Language` that the flow has. Default: English. */
export function languageOf(accepted = ''): Language {
  const wanted = accepted.split(',').map((each) => each.trim().slice(0, 2).toLowerCase());
  const lang = wanted.find((each) => Object.hasOwn(TEXTS, each)) ?? 'en';
  return { lang, texts: TEXTS[lang]! };
}
