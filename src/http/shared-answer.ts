/** Everybody who asks while an answer is being made gets that one. For what anybody may ask, as often as they like. */
export function sharedAnswer<T>(make: () => Promise<T>): () => Promise<T> {
  let making: Promise<T> | null = null
  return () => {
    making ??= make().finally(() => {
      making = null
    })
    return making
  }
}
