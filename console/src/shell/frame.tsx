import { Burger, Group, Text } from '@mantine/core'
import { useDisclosure, useMediaQuery, useWindowEvent } from '@mantine/hooks'
import { Link, Outlet, useLocation } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { type Session, useSession } from '../api/session.ts'
import icon from './icon.svg'
import { Navigation } from './navigation.tsx'
import { PlanPicker } from './plan-picker.tsx'
import { SchemeSwitch } from './scheme-switch.tsx'
import { SessionMenu } from './session-menu.tsx'

/** Header, navigation and the page. The navigation is a drawer below 768 px. */
export function Frame() {
  const session = useSession().data
  const [isOpen, { toggle, close }] = useDisclosure(false)
  const signedIn = session != null && (session.customer !== null || session.operator !== null)
  const isDrawer = useMediaQuery('(max-width: 47.99em)', false)
  useWindowEvent('keydown', ({ key }) => key === 'Escape' && close())
  const main = useFocusOnRouteChange()
  return (
    <>
      <a className="aldis-skip" href="#main">
        Skip to the page
      </a>
      <header className="aldis-header">
        <Header session={session} signedIn={signedIn} isOpen={isOpen} onToggle={toggle} />
      </header>
      {signedIn && (
        // `inert` keeps the keyboard to what is seen: closed, the drawer is not; open, the page is not.
        <div className="aldis-sidebar" inert={isDrawer && !isOpen}>
          <Navigation session={session} onFollow={close} />
        </div>
      )}
      <main id="main" ref={main} tabIndex={-1} className="aldis-main" inert={signedIn && isDrawer && isOpen}>
        <Outlet />
      </main>
    </>
  )
}

interface HeaderProps {
  readonly session: Session | undefined
  readonly signedIn: boolean
  readonly isOpen: boolean
  readonly onToggle: () => void
}

function Header({ session, signedIn, isOpen, onToggle }: HeaderProps) {
  return (
    <Group h="100%" px="sm" justify="space-between" wrap="nowrap" gap="xs">
      <Group gap="xs" wrap="nowrap">
        {signedIn && (
          <Burger
            opened={isOpen}
            onClick={onToggle}
            hiddenFrom="sm"
            size="sm"
            aria-label={isOpen ? 'Close the navigation' : 'Open the navigation'}
            aria-expanded={isOpen}
          />
        )}
        <Link to="/" className="aldis-brand">
          <img src={icon} alt="" width={24} height={24} />
          <Text component="span" fw={650}>
            Aldis
          </Text>
        </Link>
      </Group>
      <Group gap={4} wrap="nowrap">
        {session?.customer != null && <PlanPicker plans={session.customer.servicePlans} />}
        <SchemeSwitch />
        {signedIn && session !== undefined && <SessionMenu session={session} />}
      </Group>
    </Group>
  )
}

/** After a move to another page, the keyboard and screen readers begin at that page, not at the link that was followed. */
function useFocusOnRouteChange() {
  const main = useRef<HTMLElement>(null)
  const { pathname } = useLocation()
  const last = useRef(pathname)
  useEffect(() => {
    if (last.current === pathname) return
    last.current = pathname
    main.current?.focus({ preventScroll: true })
  }, [pathname])
  return main
}
