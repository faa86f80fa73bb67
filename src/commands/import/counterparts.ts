/** What becomes of the settings of another gateway: its setting in Aldis, or why there is none. */

export type Counterpart =
  | { readonly to: string /** More, for the guide. */; readonly note: string | null }
  | { readonly why: string }

/** Settings that share a counterpart have a comma between them. The guides in docs/ have these rows as tables. */
export type SettingRows = readonly (readonly [settings: string, Counterpart])[]

/** Reads rows: `settings | counterpart`, `settings | counterpart | note`, or `settings || why there is none`. */
export function settingRows(text: string): SettingRows {
  return text
    .trim()
    .split('\n')
    .map((row) => {
      const [settings, to, note = null] = row.split(/ \|\|? /) as [string, string, string?]
      return [settings, row.includes(' || ') ? { why: to } : { to, note }]
    })
}

export function counterparts(rows: SettingRows): ReadonlyMap<string, Counterpart> {
  return new Map(
    rows.flatMap(([names, counterpart]) => names.split(', ').map((name) => [name, counterpart] as const)),
  )
}
