// Opened from a folder (file://), browsers refuse workers, and the search of this site is one. There, a hidden frame does
// a worker's work: it shares the page's origin, so that messages can be handed over directly.
if (location.protocol === "file:") {
  self.Worker = class extends EventTarget {
    constructor(url) {
      super()
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.appendChild(this.frame)
      const inner = this.frame.contentWindow
      inner.postMessage = data => {
        const message = new MessageEvent("message", { data })
        this.dispatchEvent(message)
        if (this.onmessage) this.onmessage(message)
      }
      inner.importScripts = (...urls) =>
        urls.reduce((before, next) => before.then(() => this.load(next)), Promise.resolve())
      this.load(url).then(() => {
        const messages = this.waiting
        this.waiting = null
        messages.forEach(data => this.postMessage(data))
      })
    }

    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script")
        script.src = url
        script.onload = resolve
        script.onerror = () => reject(new Error("A script of this site could not be loaded."))
        this.frame.contentDocument.documentElement.appendChild(script)
      })
    }

    postMessage(data) {
      if (this.waiting) this.waiting.push(data)
      else this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data }))
    }

    terminate() {
      this.frame.remove()
    }
  }
}
