import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { operatorRoute } from '../../shell/routes.tsx'

const pages = () => import('./pages.tsx')

export const resourceRoutes = {
  operator: [
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/accounts',
      component: lazyRouteComponent(pages, 'Accounts'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/plans',
      component: lazyRouteComponent(pages, 'Plans'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/tokens',
      component: lazyRouteComponent(pages, 'Tokens'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/operator-tokens',
      component: lazyRouteComponent(pages, 'OperatorTokens'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/senders',
      component: lazyRouteComponent(pages, 'Senders'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/sender-rules',
      component: lazyRouteComponent(pages, 'SenderRules'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/numbers',
      component: lazyRouteComponent(pages, 'Numbers'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/opt-outs',
      component: lazyRouteComponent(pages, 'OptOuts'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/routes',
      component: lazyRouteComponent(pages, 'Routes'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/routing-rules',
      component: lazyRouteComponent(pages, 'RoutingRules'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/rates',
      component: lazyRouteComponent(pages, 'Rates'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/ranges',
      component: lazyRouteComponent(pages, 'Ranges'),
    }),
  ] as const,
}
