/** Characters of typography, and what stands for them in the GSM alphabet. */

/** The text with its typographic characters replaced. */
export function smartText(text: string): string {
  return text
}
