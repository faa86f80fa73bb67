import { createTheme, type MantineColorsTuple, MantineProvider } from '@mantine/core'
import type { ReactNode } from 'react'
import { Notices } from '../kit/notices.tsx'

const accent: MantineColorsTuple = [
  '#edf2ff',
  '#dbe4ff',
  '#bac8ff',
  '#91a7ff',
  '#748ffc',
  '#5c7cfa',
  '#4c6ef5',
  '#4263eb',
  '#3b5bdb',
  '#364fc7',
]

const theme = createTheme({
  colors: { accent },
  primaryColor: 'accent',
  primaryShade: { light: 8, dark: 8 },
  defaultRadius: 'md',
  fontFamily: 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif',
  fontFamilyMonospace: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace',
  cursorType: 'pointer',
  respectReducedMotion: true,
  headings: { fontWeight: '600' },
})

/** Theme, colour scheme and notices. The scheme that a person chooses is kept in this browser. */
export function Appearance({ nonce, children }: { nonce: string; children: ReactNode }) {
  return (
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <Notices />
      {children}
    </MantineProvider>
  )
}
