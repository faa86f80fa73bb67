import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { customerRoute } from '../../shell/routes.tsx'
import { phoneSearchOf } from './phone-search.ts'

const pages = () => import('./pages.tsx')

export const phoneRoutes = {
  customer: [
    createRoute({
      getParentRoute: () => customerRoute,
      path: '/phone',
      validateSearch: phoneSearchOf,
      component: lazyRouteComponent(pages, 'Phone'),
    }),
  ] as const,
}
