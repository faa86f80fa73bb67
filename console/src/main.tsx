import './shell/locale.ts'

// Loaded afterwards, because what it consists of asks for the locale while it is loaded.
await import('./app.tsx')
