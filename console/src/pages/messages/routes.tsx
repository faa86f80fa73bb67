import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { customerRoute, operatorRoute } from '../../shell/routes.tsx'

const pages = () => import('./pages.tsx')

export const messageRoutes = {
  customer: [
    createRoute({
      getParentRoute: () => customerRoute,
      path: '/messages',
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
      component: lazyRouteComponent(pages, 'OperatorMessages'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/messages/$msgId',
      component: lazyRouteComponent(pages, 'OperatorMessage'),
    }),
  ] as const,
}
