import './resources.css'
import { ResourcePage } from './resource-page.tsx'

/** The pages of this group, which is one chunk. */

export const Accounts = () => <ResourcePage name="account" />
export const Plans = () => <ResourcePage name="plan" />
export const Tokens = () => <ResourcePage name="token" />
export const OperatorTokens = () => <ResourcePage name="operator-token" />
export const Senders = () => <ResourcePage name="sender" />
export const SenderRules = () => <ResourcePage name="sender-rule" />
export const Numbers = () => <ResourcePage name="number" />
export const SendsmsUsers = () => <ResourcePage name="sendsms-user" />
export const OptOuts = () => <ResourcePage name="opt-out" />
export const CarrierSettings = () => <ResourcePage name="carrier" />
export const Routes = () => <ResourcePage name="route" />
export const RoutingRules = () => <ResourcePage name="routing-rule" />
export const Rates = () => <ResourcePage name="rate" />
export const Ranges = () => <ResourcePage name="range" />
