import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { operatorRoute } from '../../shell/routes.tsx'
import { auditSearchOf } from './audit-search.ts'

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
      validateSearch: auditSearchOf,
      component: lazyRouteComponent(pages, 'AuditLog'),
    }),
  ] as const,
}
