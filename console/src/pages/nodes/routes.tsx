import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { operatorRoute } from '../../shell/routes.tsx'

const pages = () => import('./pages.tsx')

export const nodeRoutes = {
  operator: [
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/nodes',
      component: lazyRouteComponent(pages, 'Nodes'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/audit-log',
      component: lazyRouteComponent(pages, 'AuditLog'),
    }),
  ] as const,
}
