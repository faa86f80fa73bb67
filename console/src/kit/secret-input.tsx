import { ActionIcon, TextInput, type TextInputProps } from '@mantine/core'
import { IconEye, IconEyeOff } from '@tabler/icons-react'
import { useState } from 'react'

/** A text that is hidden until one asks to see it. */
export function SecretInput(props: TextInputProps) {
  const [isSeen, setSeen] = useState(false)
  const Icon = isSeen ? IconEyeOff : IconEye
  return (
    <TextInput
      {...props}
      type={isSeen ? 'text' : 'password'}
      rightSection={
        <ActionIcon
          variant="subtle"
          color="gray"
          size="sm"
          aria-label="Show what is typed"
          aria-pressed={isSeen}
          onClick={() => setSeen(!isSeen)}
        >
          <Icon size={16} stroke={1.6} aria-hidden />
        </ActionIcon>
      }
    />
  )
}
