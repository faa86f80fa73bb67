import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { customerRoute, operatorRoute } from '../../shell/routes.tsx'
import { customerSearch, operatorSearch } from './search.ts'

const pages = () => import('./pages.tsx')

export const inboundRoutes = {
  customer: [
    createRoute({
      getParentRoute: () => customerRoute,
      path: '/inbound',
      validateSearch: customerSearch,
      component: lazyRouteComponent(pages, 'CustomerInbound'),
    }),
  ] as const,
  operator: [
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/inbound',
      validateSearch: operatorSearch,
      component: lazyRouteComponent(pages, 'OperatorInbound'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/inbound/unowned',
      component: lazyRouteComponent(pages, 'UnownedInbound'),
    }),
  ] as const,
}
