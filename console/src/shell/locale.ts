// A browser on a system without a locale says "en-US@posix", which Intl refuses. uPlot asks for it while it is loaded, which
// would leave the page empty.
try {
  Intl.getCanonicalLocales(navigator.language)
} catch {
  Object.defineProperty(navigator, 'language', { value: 'en-US' })
}
