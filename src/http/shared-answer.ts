/** Everybody who asks while an answer is being made gets that one. For what anybody may ask, as often as they like. */
export function sharedAnswer<T>(make: () => Promise<T>): () => Promise<T> {
  let underWay: Promise<T> | null = null
  return () => {
    underWay ??= make().finally(() => {
      underWay = null
    })
    return underWay
  }
}
