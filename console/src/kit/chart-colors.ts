/** Lines of charts, each with a contrast of at least 3 : 1 to the ground in both schemes. */
export const CHART_COLORS = {
  axis: { light: '#5a6169', dark: '#a6abb2' },
  grid: { light: '#e9ecef', dark: '#3b3b3b' },
  grey: { light: '#6b7178', dark: '#adb5bd' },
  blue: { light: '#1c7ed6', dark: '#4dabf7' },
  green: { light: '#2b8a3e', dark: '#51cf66' },
  red: { light: '#c92a2a', dark: '#ff8787' },
  orange: { light: '#c25400', dark: '#ffa94d' },
  violet: { light: '#7048e8', dark: '#b197fc' },
} as const

/** For style sheets: the same colour in the scheme of the page. */
export function inScheme(color: ChartColor): string {
  const { light, dark } = CHART_COLORS[color]
  return `light-dark(${light}, ${dark})`
}

export type ChartColor = Exclude<keyof typeof CHART_COLORS, 'axis' | 'grid'>
