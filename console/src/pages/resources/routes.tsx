import { createRoute, lazyRouteComponent } from '@tanstack/react-router'
import { operatorRoute } from '../../shell/routes.tsx'
import { resourceSearch } from './search.ts'

const pages = () => import('./pages.tsx')

export const resourceRoutes = {
  operator: [
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/accounts',
      validateSearch: resourceSearch,
      component: lazyRouteComponent(pages, 'Accounts'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/plans',
      validateSearch: resourceSearch,
      component: lazyRouteComponent(pages, 'Plans'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/tokens',
      validateSearch: resourceSearch,
      component: lazyRouteComponent(pages, 'Tokens'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/operator-tokens',
      validateSearch: resourceSearch,
      component: lazyRouteComponent(pages, 'OperatorTokens'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/senders',
      validateSearch: resourceSearch,
      component: lazyRouteComponent(pages, 'Senders'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/sender-rules',
      validateSearch: resourceSearch,
      component: lazyRouteComponent(pages, 'SenderRules'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/numbers',
      validateSearch: resourceSearch,
      component: lazyRouteComponent(pages, 'Numbers'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/sendsms-users',
      validateSearch: resourceSearch,
      component: lazyRouteComponent(pages, 'SendsmsUsers'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/opt-outs',
      validateSearch: resourceSearch,
      component: lazyRouteComponent(pages, 'OptOuts'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/carrier-settings',
      validateSearch: resourceSearch,
      component: lazyRouteComponent(pages, 'CarrierSettings'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/routes',
      validateSearch: resourceSearch,
      component: lazyRouteComponent(pages, 'Routes'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/routing-rules',
      validateSearch: resourceSearch,
      component: lazyRouteComponent(pages, 'RoutingRules'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/rates',
      validateSearch: resourceSearch,
      component: lazyRouteComponent(pages, 'Rates'),
    }),
    createRoute({
      getParentRoute: () => operatorRoute,
      path: '/ranges',
      validateSearch: resourceSearch,
      component: lazyRouteComponent(pages, 'Ranges'),
    }),
  ] as const,
}
