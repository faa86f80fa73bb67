import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { customerRoute } from '../../shell/routes.tsx'

const pages = () => import('./pages.tsx')

export const composeRoutes = {
  customer: [
    createRoute({
      getParentRoute: () => customerRoute,
      path: '/compose',
      component: lazyRouteComponent(pages, 'Compose'),
    }),
  ] as const,
}
