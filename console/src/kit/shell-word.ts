/** A word of a command line: quoted where a shell needs it, or, verbatim, what the shell is to read itself: `"$PASSWORD"`. */
export type ShellWord = string | { readonly verbatim: string }

/** As a POSIX shell reads it. */
export function quoted(word: ShellWord): string {
  if (typeof word === 'object') return word.verbatim
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
