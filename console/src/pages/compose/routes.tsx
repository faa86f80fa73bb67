import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { customerRoute } from '../../shell/routes.tsx'
import { composeSearchOf } from './compose-search.ts'

const pages = () => import('./pages.tsx')

export const composeRoutes = {
  customer: [
    createRoute({
      getParentRoute: () => customerRoute,
      path: '/compose',
      validateSearch: composeSearchOf,
      component: lazyRouteComponent(pages, 'Compose'),
    }),
  ] as const,
}
