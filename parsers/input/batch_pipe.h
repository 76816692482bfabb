// SPDX-License-Identifier: GPL-3.0-or-later
// Work that is done on a thread of its own, batch after batch in the order in which they were filled.
#pragma once

#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace whichlock {

/// `Batch` has empty(), and clear(), which keeps its storage. At most `mostBatches` exist; who fills waits
/// for who works. MT: all calls from one thread; the work runs on another one, never two at a time.
template <class Batch> class BatchPipe {
public:
    using Work = std::function<void(Batch& batch)>;

    explicit BatchPipe(Work work, size_t mostBatches = 4)
        : work_(std::move(work))
        , mostBatches_(mostBatches)
        , filling_(std::make_unique<Batch>())
    {
    }
    BatchPipe(const BatchPipe&) = delete;
    BatchPipe& operator=(const BatchPipe&) = delete;
    /// Waits for the batches that were passed.
    ~BatchPipe() { close(); }

    Batch& filling() { return *filling_; }

    /// Hands over what was filled; the next batch is empty. What the work throws is thrown here or by
    /// finish().
    void pass()
    {
        if (std::thread::hardware_concurrency() == 1)
            return workHere();
        if (!worker_.valid())
            worker_ = std::async(std::launch::async, [this] { run(); });
        std::unique_lock lock(mutex_);
        full_.push_back(std::move(filling_));
        changed_.notify_all();
        changed_.wait(lock, [&] { return gone_ || !free_.empty() || made_ < mostBatches_; });
        if (!free_.empty()) {
            filling_ = std::move(free_.back());
            free_.pop_back();
            return;
        }
        filling_ = std::make_unique<Batch>();
        ++made_;
        if (gone_) {
            lock.unlock();
            worker_.get();
        }
    }

    /// Returns when the work on all that was filled is done; more may be filled then.
    void settle()
    {
        if (worker_.valid()) {
            std::unique_lock lock(mutex_);
            changed_.wait(lock, [&] { return gone_ || (full_.empty() && !working_); });
            if (gone_) {
                lock.unlock();
                worker_.get();
            }
        }
        workHere();
    }

    /// The same, for the last time. Short work needs no thread at all.
    void finish()
    {
        close();
        if (worker_.valid())
            worker_.get();
        workHere();
    }

private:
    void workHere()
    {
        if (filling_->empty())
            return;
        work_(*filling_);
        filling_->clear();
    }

    void close()
    {
        {
            const std::lock_guard lock(mutex_);
            closed_ = true;
            changed_.notify_all();
        }
        if (worker_.valid())
            worker_.wait();
    }

    void run()
    {
        const Leaving leaving{*this};
        std::unique_lock lock(mutex_);
        while (true) {
            changed_.wait(lock, [&] { return closed_ || !full_.empty(); });
            if (full_.empty())
                return;
            std::unique_ptr<Batch> batch = std::move(full_.front());
            full_.erase(full_.begin());
            working_ = true;
            lock.unlock();
            work_(*batch);
            batch->clear();
            lock.lock();
            working_ = false;
            free_.push_back(std::move(batch));
            changed_.notify_all();
        }
    }

    /// Tells who fills that nobody works any more, also when the work threw.
    struct Leaving {
        BatchPipe& pipe;

        explicit Leaving(BatchPipe& of)
            : pipe(of)
        {
        }
        Leaving(const Leaving&) = delete;
        Leaving& operator=(const Leaving&) = delete;
        ~Leaving()
        {
            const std::lock_guard lock(pipe.mutex_);
            pipe.gone_ = true;
            pipe.changed_.notify_all();
        }
    };

    Work work_;
    const size_t mostBatches_;
    std::unique_ptr<Batch> filling_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<std::unique_ptr<Batch>> full_; ///< oldest first
    std::vector<std::unique_ptr<Batch>> free_;
    size_t made_ = 1;
    bool working_ = false;
    bool closed_ = false;
    bool gone_ = false;
    std::future<void> worker_;
};

} // namespace whichlock
