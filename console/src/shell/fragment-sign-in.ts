import { signIn } from '../api/session.ts'

/**
 * Signs in with the tokens of a link of `aldis dev`, `/console/#customer=…&operator=…`, and takes them out of the address
 * and the history. A token that is refused leaves the sign-in page, which says what to do.
 */
export async function signInFromFragment(): Promise<void> {
  const tokens = tokensOfFragment()
  if (tokens.length === 0) return
  history.replaceState(null, '', location.pathname + location.search)
  // One after the other: each answer sets its cookie beside the one before.
  for (const token of tokens) await signIn(token).catch(() => undefined)
}

/** Such a link changes only the fragment of a tab that shows the console already. The page is loaded again to follow it. */
export function followFragment(): void {
  addEventListener('hashchange', () => {
    if (tokensOfFragment().length > 0) location.reload()
  })
}

function tokensOfFragment(): string[] {
  const given = new URLSearchParams(location.hash.slice(1))
  return ['customer', 'operator'].map((kind) => given.get(kind)).filter((token) => token !== null)
}
