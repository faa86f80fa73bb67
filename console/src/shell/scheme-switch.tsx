import { ActionIcon, useMantineColorScheme } from '@mantine/core'
import { IconDeviceDesktop, IconMoon, IconSun } from '@tabler/icons-react'

/** Each with the one that a press chooses. */
const SCHEMES = {
  auto: { label: 'as the system', icon: IconDeviceDesktop, next: 'light' },
  light: { label: 'light', icon: IconSun, next: 'dark' },
  dark: { label: 'dark', icon: IconMoon, next: 'auto' },
} as const

/** Goes through light, dark, and what the system has. */
export function SchemeSwitch() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const { label, icon: Icon, next } = SCHEMES[colorScheme]
  const name = `Colour scheme: ${label}`
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      aria-label={name}
      title={name}
      onClick={() => setColorScheme(next)}
    >
      <Icon size={18} stroke={1.6} aria-hidden />
    </ActionIcon>
  )
}
