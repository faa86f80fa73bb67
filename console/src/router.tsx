import { createRouter } from '@tanstack/react-router'
import { carrierRoutes } from './pages/carriers/routes.tsx'
import { composeRoutes } from './pages/compose/routes.tsx'
import { inboundRoutes } from './pages/inbound/routes.tsx'
import { messageRoutes } from './pages/messages/routes.tsx'
import { nodeRoutes } from './pages/nodes/routes.tsx'
import { overviewRoutes } from './pages/overview/routes.tsx'
import { phoneRoutes } from './pages/phone/routes.tsx'
import { resourceRoutes } from './pages/resources/routes.tsx'
import { webhookRoutes } from './pages/webhooks/routes.tsx'
import { RouteError } from './shell/route-error.tsx'
import { customerRoute, operatorRoute, rootRoute, signInRoute } from './shell/routes.tsx'

const routeTree = rootRoute.addChildren([
  signInRoute,
  customerRoute.addChildren([
    ...overviewRoutes.customer,
    ...messageRoutes.customer,
    ...inboundRoutes.customer,
    ...webhookRoutes.customer,
    ...composeRoutes.customer,
    ...phoneRoutes.customer,
  ]),
  operatorRoute.addChildren([
    ...overviewRoutes.operator,
    ...messageRoutes.operator,
    ...inboundRoutes.operator,
    ...webhookRoutes.operator,
    ...resourceRoutes.operator,
    ...carrierRoutes.operator,
    ...nodeRoutes.operator,
  ]),
])

/** Every value of an address is a text. As JSON, the default, a phone number would become a number, and 303 be written "303". */
function stringifySearch(search: Record<string, unknown>): string {
  const given = Object.entries(search).filter(([, value]) => value !== undefined && value !== null)
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)]))
  return query.size === 0 ? '' : `?${query}`
}

export const router = createRouter({
  routeTree,
  parseSearch: (search) => Object.fromEntries(new URLSearchParams(search)),
  stringifySearch,
  basepath: '/console',
  defaultPreload: 'intent',
  scrollRestoration: true,
  defaultErrorComponent: RouteError,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
