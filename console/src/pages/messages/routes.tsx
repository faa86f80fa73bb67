import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { customerRoute, operatorRoute } from '../../shell/routes.tsx'
import { CUSTOMER_FILTERS, OPERATOR_FILTERS } from './log/filter-names.ts'
import { logSearch } from './log/filters.ts'

const pages = () => import('./pages.tsx')

export const messageRoutes = {
  customer: [
    createRoute({
      getParentRoute: () => customerRoute,
      path: '/messages',
      validateSearch: logSearch(CUSTOMER_FILTERS),
      component: lazyRouteComponent(pages, 'CustomerMessages'),
    }),
    createRoute({
      getParentRoute: () => customerRoute,
      path: '/messages/$msgId',
      component: lazyRouteComponent(pages, 'CustomerMessage'),
    }),
  ] as const,
  operator: [
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/messages',
      validateSearch: logSearch(OPERATOR_FILTERS),
      component: lazyRouteComponent(pages, 'OperatorMessages'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/messages/$msgId',
      component: lazyRouteComponent(pages, 'OperatorMessage'),
    }),
  ] as const,
}
