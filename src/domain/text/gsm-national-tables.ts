/**
 * National language tables of the GSM 7-bit alphabet (3GPP TS 23.038 §6.2.1.2.4 and annex A), by national language
 * identifier: 1 Turkish, 2 Spanish, 3 Portuguese, 4 Bengali and Assamese, 5 Gujarati, 6 Hindi, 7 Kannada, 8 Malayalam,
 * 9 Oriya, 10 Punjabi, 11 Tamil, 12 Telugu, 13 Urdu. Spanish has no locking shift table.
 */

/** By identifier, from 1 on. */
export const NATIONAL_LANGUAGES = [
  'turkish',
  'spanish',
  'portuguese',
  'bengali',
  'gujarati',
  'hindi',
  'kannada',
  'malayalam',
  'oriya',
  'punjabi',
  'tamil',
  'telugu',
  'urdu',
] as const
export type NationalLanguage = (typeof NATIONAL_LANGUAGES)[number]

export function languageIdentifiers(names: readonly NationalLanguage[]): number[] {
  return names.map((name) => NATIONAL_LANGUAGES.indexOf(name) + 1)
}

export function languageNames(identifiers: readonly number[]): NationalLanguage[] {
  return identifiers.map((identifier) => NATIONAL_LANGUAGES[identifier - 1]!)
}

/**
 * Which tables a text names in its user data header, by national language identifier; null: those of the default
 * alphabet. An identifier without a table is kept as it came.
 */
export interface Language {
  readonly locking: number | null
  readonly single: number | null
}

export const DEFAULT_LANGUAGE: Language = { locking: null, single: null }

export function sameLanguage(one: Language, other: Language): boolean {
  return one.locking === other.locking && one.single === other.single
}

/**
 * Maps a first code, in hexadecimal, to the characters from there on, separated by spaces. A character is written as
 * itself or, in scripts that editors join or reorder, as its four hexadecimal digits. `--` leaves a code as it is.
 */
type Runs = Readonly<Record<string, string>>

/** The locking shift tables that are the default alphabet with other letters: code n is the n-th character. */
const LATIN_LOCKING: ReadonlyArray<readonly [identifier: number, characters: string]> = [
  [
    1,
    '@£$¥€éùıòÇ\nĞğ\rÅå' +
      'Δ_ΦΓΛΩΠΨΣΘΞ ŞşßÉ' +
      ' !"#¤%&\'()*+,-./' +
      '0123456789:;<=>?' +
      'İABCDEFGHIJKLMNO' +
      'PQRSTUVWXYZÄÖÑÜ§' +
      'çabcdefghijklmno' +
      'pqrstuvwxyzäöñüà',
  ],
  [
    3,
    '@£$¥êéúíóç\nÔô\rÁá' +
      'Δ_ªÇÀ∞^\\€Ó| ÂâÊÉ' +
      ' !"#º%&\'()*+,-./' +
      '0123456789:;<=>?' +
      'ÍABCDEFGHIJKLMNO' +
      'PQRSTUVWXYZÃÕÚÜ§' +
      '~abcdefghijklmno' +
      'pqrstuvwxyzãõ`üà',
  ],
]

/** What the locking shift tables of the scripts of India and Pakistan have in common. */
const SCRIPT_LOCKING: Runs = {
  '0x0a': '000a -- -- 000d',
  '0x20': '0020 !',
  '0x28': ') (',
  '0x2c': ', -- .',
  '0x30': '0 1 2 3 4 5 6 7 8 9 : ;',
  '0x3f': '?',
  '0x61': 'a b c d e f g h i j k l m n o p q r s t u v w x y z',
}

const LOCKING: Readonly<Record<number, Runs>> = {
  // Bengali
  4: {
    '0x00': '0981 0982 0983 0985 0986 0987 0988 0989 098a 098b -- 098c -- -- -- 098f',
    '0x10': '0990 -- -- 0993 0994 0995 0996 0997 0998 0999 099a -- 099b 099c 099d 099e',
    '0x22': '099f 09a0 09a1 09a2 09a3 09a4 -- -- 09a5 09a6 -- 09a7 -- 09a8',
    '0x3d': '09aa 09ab',
    '0x40': '09ac 09ad 09ae 09af 09b0 -- 09b2 -- -- -- 09b6 09b7 09b8 09b9 09bc 09bd',
    '0x50': '09be 09bf 09c0 09c1 09c2 09c3 09c4 -- -- 09c7 09c8 -- -- 09cb 09cc 09cd 09ce',
    '0x7b': '09d7 09dc 09dd 09f0 09f1',
  },
  // Gujarati
  5: {
    '0x00': '0a81 0a82 0a83 0a85 0a86 0a87 0a88 0a89 0a8a 0a8b -- 0a8c 0a8d -- -- 0a8f',
    '0x10': '0a90 0a91 -- 0a93 0a94 0a95 0a96 0a97 0a98 0a99 0a9a -- 0a9b 0a9c 0a9d 0a9e',
    '0x22': '0a9f 0aa0 0aa1 0aa2 0aa3 0aa4 -- -- 0aa5 0aa6 -- 0aa7 -- 0aa8',
    '0x3d': '0aaa 0aab',
    '0x40': '0aac 0aad 0aae 0aaf 0ab0 -- 0ab2 0ab3 -- 0ab5 0ab6 0ab7 0ab8 0ab9 0abc 0abd',
    '0x50': '0abe 0abf 0ac0 0ac1 0ac2 0ac3 0ac4 0ac5 -- 0ac7 0ac8 0ac9 -- 0acb 0acc 0acd 0ad0',
    '0x7b': '0ae0 0ae1 0ae2 0ae3 0af1',
  },
  // Hindi
  6: {
    '0x00': '0901 0902 0903 0905 0906 0907 0908 0909 090a 090b -- 090c 090d -- 090e 090f',
    '0x10': '0910 0911 0912 0913 0914 0915 0916 0917 0918 0919 091a -- 091b 091c 091d 091e',
    '0x22': '091f 0920 0921 0922 0923 0924 -- -- 0925 0926 -- 0927 -- 0928',
    '0x3c': '0929 092a 092b',
    '0x40': '092c 092d 092e 092f 0930 0931 0932 0933 0934 0935 0936 0937 0938 0939 093c 093d',
    '0x50': '093e 093f 0940 0941 0942 0943 0944 0945 0946 0947 0948 0949 094a 094b 094c 094d 0950',
    '0x7b': '0972 097b 097c 097e 097f',
  },
  // Kannada
  7: {
    '0x01': '0c82 0c83 0c85 0c86 0c87 0c88 0c89 0c8a 0c8b -- 0c8c -- -- 0c8e 0c8f',
    '0x10': '0c90 -- 0c92 0c93 0c94 0c95 0c96 0c97 0c98 0c99 0c9a -- 0c9b 0c9c 0c9d 0c9e',
    '0x22': '0c9f 0ca0 0ca1 0ca2 0ca3 0ca4 -- -- 0ca5 0ca6 -- 0ca7 -- 0ca8',
    '0x3d': '0caa 0cab',
    '0x40': '0cac 0cad 0cae 0caf 0cb0 0cb1 0cb2 0cb3 -- 0cb5 0cb6 0cb7 0cb8 0cb9 0cbc 0cbd',
    '0x50': '0cbe 0cbf 0cc0 0cc1 0cc2 0cc3 0cc4 -- 0cc6 0cc7 0cc8 -- 0cca 0ccb 0ccc 0ccd 0cd5',
    '0x7b': '0cd6 0ce0 0ce1 0ce2 0ce3',
  },
  // Malayalam
  8: {
    '0x01': '0d02 0d03 0d05 0d06 0d07 0d08 0d09 0d0a 0d0b -- 0d0c -- -- 0d0e 0d0f',
    '0x10': '0d10 -- 0d12 0d13 0d14 0d15 0d16 0d17 0d18 0d19 0d1a -- 0d1b 0d1c 0d1d 0d1e',
    '0x22': '0d1f 0d20 0d21 0d22 0d23 0d24 -- -- 0d25 0d26 -- 0d27 -- 0d28',
    '0x3d': '0d2a 0d2b',
    '0x40': '0d2c 0d2d 0d2e 0d2f 0d30 0d31 0d32 0d33 0d34 0d35 0d36 0d37 0d38 0d39 -- 0d3d',
    '0x50': '0d3e 0d3f 0d40 0d41 0d42 0d43 0d44 -- 0d46 0d47 0d48 -- 0d4a 0d4b 0d4c 0d4d 0d57',
    '0x7b': '0d60 0d61 0d62 0d63 0d79',
  },
  // Oriya
  9: {
    '0x00': '0b01 0b02 0b03 0b05 0b06 0b07 0b08 0b09 0b0a 0b0b -- 0b0c -- -- -- 0b0f',
    '0x10': '0b10 -- -- 0b13 0b14 0b15 0b16 0b17 0b18 0b19 0b1a -- 0b1b 0b1c 0b1d 0b1e',
    '0x22': '0b1f 0b20 0b21 0b22 0b23 0b24 -- -- 0b25 0b26 -- 0b27 -- 0b28',
    '0x3d': '0b2a 0b2b',
    '0x40': '0b2c 0b2d 0b2e 0b2f 0b30 -- 0b32 0b33 -- 0b35 0b36 0b37 0b38 0b39 0b3c 0b3d',
    '0x50': '0b3e 0b3f 0b40 0b41 0b42 0b43 0b44 -- -- 0b47 0b48 -- -- 0b4b 0b4c 0b4d 0b56',
    '0x7b': '0b57 0b60 0b61 0b62 0b63',
  },
  // Punjabi
  10: {
    '0x00': '0a01 0a02 0a03 0a05 0a06 0a07 0a08 0a09 0a0a',
    '0x0f': '0a0f',
    '0x10': '0a10 -- -- 0a13 0a14 0a15 0a16 0a17 0a18 0a19 0a1a -- 0a1b 0a1c 0a1d 0a1e',
    '0x22': '0a1f 0a20 0a21 0a22 0a23 0a24 -- -- 0a25 0a26 -- 0a27 -- 0a28',
    '0x3d': '0a2a 0a2b',
    '0x40': '0a2c 0a2d 0a2e 0a2f 0a30 -- 0a32 0a33 -- 0a35 0a36 -- 0a38 0a39 0a3c',
    '0x50': '0a3e 0a3f 0a40 0a41 0a42',
    '0x59': '0a47 0a48 -- -- 0a4b 0a4c 0a4d 0a51',
    '0x7b': '0a70 0a71 0a72 0a73 0a74',
  },
  // Tamil
  11: {
    '0x01': '0b82 0b83 0b85 0b86 0b87 0b88 0b89 0b8a',
    '0x0e': '0b8e 0b8f',
    '0x10': '0b90 -- 0b92 0b93 0b94 0b95 -- -- -- 0b99 0b9a -- -- 0b9c -- 0b9e',
    '0x22': '0b9f -- -- -- 0ba3 0ba4',
    '0x2f': '0ba8',
    '0x3c': '0ba9 0baa',
    '0x42': '0bae 0baf 0bb0 0bb1 0bb2 0bb3 0bb4 0bb5 0bb6 0bb7 0bb8 0bb9',
    '0x50': '0bbe 0bbf 0bc0 0bc1 0bc2 -- -- -- 0bc6 0bc7 0bc8 -- 0bca 0bcb 0bcc 0bcd 0bd0',
    '0x7b': '0bd7 0bf0 0bf1 0bf2 0bf9',
  },
  // Telugu
  12: {
    '0x00': '0c01 0c02 0c03 0c05 0c06 0c07 0c08 0c09 0c0a 0c0b -- 0c0c -- -- 0c0e 0c0f',
    '0x10': '0c10 -- 0c12 0c13 0c14 0c15 0c16 0c17 0c18 0c19 0c1a -- 0c1b 0c1c 0c1d 0c1e',
    '0x22': '0c1f 0c20 0c21 0c22 0c23 0c24 -- -- 0c25 0c26 -- 0c27 -- 0c28',
    '0x3d': '0c2a 0c2b',
    '0x40': '0c2c 0c2d 0c2e 0c2f 0c30 0c31 0c32 0c33 -- 0c35 0c36 0c37 0c38 0c39 -- 0c3d',
    '0x50': '0c3e 0c3f 0c40 0c41 0c42 0c43 0c44 -- 0c46 0c47 0c48 -- 0c4a 0c4b 0c4c 0c4d 0c55',
    '0x7b': '0c56 0c60 0c61 0c62 0c63',
  },
  // Urdu
  13: {
    '0x00': '0627 0622 0628 067b 0680 067e 06a6 062a 06c2 067f -- 0679 067d -- 067a 067c',
    '0x10': '062b 062c 0681 0684 0683 0685 0686 0687 062d 062e 062f -- 068c 0688 0689 068a',
    '0x22': '068f 068d 0630 0631 0691 0693 -- -- 0699 0632 -- 0696 -- 0698',
    '0x3c': '069a 0633 0634',
    '0x40': '0635 0636 0637 0638 0639 0641 0642 06a9 06aa 06ab 06af 06b3 06b1 0644 0645 0646',
    '0x50': '06ba 06bb 06bc 0648 06c4 06d5 06c1 06be 0621 06cc 06d0 06d2 064d 0650 064f 0657 0654',
    '0x7b': '0655 0651 0653 0656 0670',
  },
}

/** What the single shift tables of the scripts have in common. */
const SCRIPT_SINGLE: Runs = {
  '0x00': '@ £ $ ¥ ¿ " ¤ % & \' -- * + -- - /',
  '0x10': '< = > ¡ -- ¡ _ # *',
  '0x41': 'A B C D E F G H I J K L M N O P Q R S T U V W X Y Z',
}

/** Characters of single shift tables beyond those of the default extension table, which keep their codes in each. */
const SINGLE: Readonly<Record<number, Runs>> = {
  // Turkish
  1: {
    '0x47': 'Ğ -- İ',
    '0x53': 'Ş',
    '0x63': 'ç -- -- -- ğ -- ı',
    '0x73': 'ş',
  },
  // Spanish
  2: {
    '0x09': 'ç',
    '0x41': 'Á',
    '0x49': 'Í',
    '0x4f': 'Ó',
    '0x55': 'Ú',
    '0x61': 'á',
    '0x69': 'í',
    '0x6f': 'ó',
    '0x75': 'ú',
  },
  // Portuguese
  3: {
    '0x05': 'ê -- -- -- ç -- Ô ô -- Á á',
    '0x12': 'Φ Γ -- Ω Π Ψ Σ Θ',
    '0x1f': 'Ê',
    '0x41': 'À',
    '0x49': 'Í',
    '0x4f': 'Ó',
    '0x55': 'Ú',
    '0x5b': 'Ã Õ',
    '0x61': 'Â',
    '0x69': 'í',
    '0x6f': 'ó',
    '0x75': 'ú',
    '0x7b': 'ã õ -- -- â',
  },
  // Bengali
  4: {
    '0x19': '09e6 09e7 -- 09e8 09e9 09ea 09eb',
    '0x20': '09ec 09ed 09ee 09ef 09df 09e0 09e1 09e2 -- -- 09e3 09f2 09f3 09f4 09f5',
    '0x30': '09f6 09f7 09f8 09f9 09fa',
  },
  // Gujarati
  5: {
    '0x19': '0964 0965 -- 0ae6 0ae7 0ae8 0ae9',
    '0x20': '0aea 0aeb 0aec 0aed 0aee 0aef',
  },
  // Hindi
  6: {
    '0x19': '0964 0965 -- 0966 0967 0968 0969',
    '0x20': '096a 096b 096c 096d 096e 096f 0951 0952 -- -- 0953 0954 0958 0959 095a',
    '0x30': '095b 095c 095d 095e 095f 0960 0961 0962 0963 0970 0971',
  },
  // Kannada
  7: {
    '0x19': '0964 0965 -- 0ce6 0ce7 0ce8 0ce9',
    '0x20': '0cea 0ceb 0cec 0ced 0cee 0cef 0cde 0cf1 -- -- 0cf2',
  },
  // Malayalam
  8: {
    '0x19': '0964 0965 -- 0d66 0d67 0d68 0d69',
    '0x20': '0d6a 0d6b 0d6c 0d6d 0d6e 0d6f 0d70 0d71 -- -- 0d72 0d73 0d74 0d75 0d7a',
    '0x30': '0d7b 0d7c 0d7d 0d7e 0d7f',
  },
  // Oriya
  9: {
    '0x19': '0964 0965 -- 0b66 0b67 0b68 0b69',
    '0x20': '0b6a 0b6b 0b6c 0b6d 0b6e 0b6f 0b5c 0b5d -- -- 0b5f 0b70 0b71',
  },
  // Punjabi
  10: {
    '0x19': '0964 0965 -- 0a66 0a67 0a68 0a69',
    '0x20': '0a6a 0a6b 0a6c 0a6d 0a6e 0a6f 0a59 0a5a -- -- 0a5b 0a5c 0a5e 0a75',
  },
  // Tamil
  11: {
    '0x19': '0964 0965 -- 0be6 0be7 0be8 0be9',
    '0x20': '0bea 0beb 0bec 0bed 0bee 0bef 0bf3 0bf4 -- -- 0bf5 0bf6 0bf7 0bf8 0bfa',
  },
  // Telugu
  12: {
    '0x1c': '0c66 0c67 0c68 0c69',
    '0x20': '0c6a 0c6b 0c6c 0c6d 0c6e 0c6f 0c58 0c59 -- -- 0c78 0c79 0c7a 0c7b 0c7c',
    '0x30': '0c7d 0c7e 0c7f',
  },
  // Urdu
  13: {
    '0x19': '0600 0601 -- 06f0 06f1 06f2 06f3',
    '0x20': '06f4 06f5 06f6 06f7 06f8 06f9 060c 060d -- -- 060e 060f 0610 0611 0612',
    '0x30': '0613 0614 061b 061f 0640 0652 0658 066b 066c 0672 0673 06cd -- -- -- 06d4',
  },
}

const FIRST_SCRIPT = 4

const LOCKING_TABLES = new Map<number, readonly string[]>(
  LATIN_LOCKING.map(([identifier, characters]) => [identifier, [...characters]]),
)
for (const [identifier, runs] of Object.entries(LOCKING)) {
  const table = new Array<string>(0x80).fill(' ')
  for (const [code, character] of [...codesOf(SCRIPT_LOCKING), ...codesOf(runs)]) table[code] = character
  LOCKING_TABLES.set(Number(identifier), table)
}

const SINGLE_TABLES = new Map<number, ReadonlyMap<number, string>>()
for (const [key, runs] of Object.entries(SINGLE)) {
  const identifier = Number(key)
  const shared = identifier < FIRST_SCRIPT ? [] : codesOf(SCRIPT_SINGLE)
  SINGLE_TABLES.set(identifier, new Map([...shared, ...codesOf(runs)]))
}

/** 128 characters by code, with a space at ESC and where the table has none; undefined: no table has that identifier. */
export function lockingTable(identifier: number | null): readonly string[] | undefined {
  return identifier === null ? undefined : LOCKING_TABLES.get(identifier)
}

/** Code after ESC -> character, without those of the default extension table; undefined: no table has that identifier. */
export function singleTable(identifier: number | null): ReadonlyMap<number, string> | undefined {
  return identifier === null ? undefined : SINGLE_TABLES.get(identifier)
}

function codesOf(runs: Runs): Array<[code: number, character: string]> {
  return Object.entries(runs).flatMap(([start, run]) =>
    run.split(' ').flatMap((token, index): Array<[number, string]> => {
      if (token === '--') return []
      const character = token.length === 1 ? token : String.fromCharCode(Number.parseInt(token, 16))
      return [[Number(start) + index, character]]
    }),
  )
}
