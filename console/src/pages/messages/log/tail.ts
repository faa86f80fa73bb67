import type { InfiniteData } from '@tanstack/react-query'
import { type Page, restOf } from '../../../../../client/src/client.ts'

interface Identified {
  readonly msgId: string
}
export type MessagePage<Message> = Page & { items: Message[] }
export type Pages<Message> = InfiniteData<MessagePage<Message>, object>

/** The items of a page are declared as unknown beside their type. */
function itemsOf<Message>({ items }: MessagePage<Message>): Message[] {
  return items
}

/** The log's pages with what is shown already, and the newest page as the live tail reads it again and again. */

/** Messages of the newest page that are not shown yet. Those that are older than what is shown are left to "Load more". */
export function unseen<Message extends Identified>(
  { pages }: Pages<Message>,
  newest: MessagePage<Message>,
): Message[] {
  const shown = new Set(pages.flatMap(itemsOf<Message>).map(({ msgId }) => msgId))
  const oldest = pages.flatMap(itemsOf<Message>).at(-1)?.msgId ?? ''
  // Without anything that is shown, all is new.
  return itemsOf(newest).filter(({ msgId }) => !shown.has(msgId) && (oldest === '' || msgId > oldest))
}

/** The same rows with their newest states. */
export function withStates<Message extends Identified>(
  data: Pages<Message>,
  newest: MessagePage<Message>,
): Pages<Message> {
  const states = new Map(itemsOf(newest).map((message) => [message.msgId, message]))
  const pages = data.pages.map((page) => ({
    ...page,
    items: itemsOf(page).map((message) => states.get(message.msgId) ?? message),
  }))
  return { ...data, pages }
}

/** The new messages above those that are shown; only the newest page where there is a gap between the two. */
export function withUnseen<Message extends Identified>(
  data: Pages<Message>,
  newest: MessagePage<Message>,
): Pages<Message> {
  const [first, ...rest] = data.pages
  const fresh = unseen(data, newest)
  if (first === undefined || isBehind(data, newest)) return { pages: [newest], pageParams: [{}] }
  const items = [...fresh, ...itemsOf(first)].sort((one, other) => (one.msgId < other.msgId ? 1 : -1))
  return { ...data, pages: [{ ...first, items }, ...rest] }
}

/** Whether there are more new messages than the newest page has. */
export function isBehind<Message extends Identified>(
  { pages }: Pages<Message>,
  newest: MessagePage<Message>,
): boolean {
  const top = pages.flatMap(itemsOf<Message>)[0]?.msgId
  const bottom = itemsOf(newest).at(-1)?.msgId
  return restOf(newest) !== null && (top === undefined || bottom === undefined || bottom > top)
}

/** Rows that the newest page should have and has not: since they were read, they have changed so that they no longer match. */
export function changed<Message extends Identified>(
  { pages }: Pages<Message>,
  newest: MessagePage<Message>,
): ReadonlySet<string> {
  const matching = new Set(itemsOf(newest).map(({ msgId }) => msgId))
  const bottom = restOf(newest) === null ? '' : (itemsOf(newest).at(-1)?.msgId ?? null)
  if (bottom === null) return new Set()
  const shown = pages.flatMap(itemsOf<Message>).map(({ msgId }) => msgId)
  return new Set(shown.filter((msgId) => msgId > bottom && !matching.has(msgId)))
}
