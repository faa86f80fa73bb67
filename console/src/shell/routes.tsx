import { createRootRoute, createRoute, Outlet, retainSearchParams } from '@tanstack/react-router'
import { Frame } from './frame.tsx'
import { NotFound } from './not-found.tsx'
import { SessionGate } from './session-gate.tsx'
import { SignIn } from './sign-in.tsx'

/** The routes above those of the page groups: who must be signed in for what is below them. */

export const rootRoute = createRootRoute({ component: Frame, notFoundComponent: NotFound })

export const signInRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/sign-in',
  component: () => <SignIn kind={null} />,
})

/** Pages of a customer. The service plan is in the address, as `plan`, and stays from page to page. */
export const customerRoute = createRoute({
  getParentRoute: () => rootRoute,
  id: 'customer',
  validateSearch: (search: Record<string, unknown>): { plan?: string } =>
    typeof search.plan === 'string' ? { plan: search.plan } : {},
  search: { middlewares: [retainSearchParams(['plan'])] },
  component: () => (
    <SessionGate kind="customer">
      <Outlet />
    </SessionGate>
  ),
})

/** Pages of an operator. */
export const operatorRoute = createRoute({
  getParentRoute: () => rootRoute,
  path: '/admin',
  component: () => (
    <SessionGate kind="operator">
      <Outlet />
    </SessionGate>
  ),
})
