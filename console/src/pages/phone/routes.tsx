import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { customerRoute } from '../../shell/routes.tsx'

const pages = () => import('./pages.tsx')

export const phoneRoutes = {
  customer: [
    createRoute({
      getParentRoute: () => customerRoute,
      path: '/phone',
      component: lazyRouteComponent(pages, 'Phone'),
    }),
  ] as const,
}
